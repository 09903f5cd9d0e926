"""The whole analysis of one chain, as one record that tables, figures and JSON read."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.appendices import (
    TheoremCheck,
    Trace,
    appendix_c_leaves,
    check_theorem,
    finite_horizon_q,
    least_wrong,
    optimal_q,
    traces,
)
from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.chain_tree import ValueLeaves, main_text_leaves
from crisptree.lab.analysis.critical_points import phi_grid
from crisptree.lab.analysis.paper_comparison import Comparison, compare_print
from crisptree.lab.analysis.update_curves import (
    Curve,
    Learning,
    initial_phis,
    iterate_updates,
    policy_gradient_curves,
    q_learning_curves,
)

FORMAT = "crisptree.lab.analysis"
THEOREM_PS = (1.0, 0.9, 0.75, 0.6, 0.5, 0.4)


@dataclass(frozen=True)
class LearningPlan:
    """φ ← φ + rate/T · Δφ, `steps` times: Δφ sums over the T time steps of an episode."""

    rate: float = 0.004
    steps: int = 10_000

    def __post_init__(self) -> None:
        if not 0 < self.rate < float("inf"):
            raise CrisptreeError(f"rate is {self.rate}; it must be positive and finite")
        if self.steps < 1:
            raise CrisptreeError(f"steps is {self.steps}; learning takes at least 1")


@dataclass(frozen=True, eq=False)
class Analysis:
    setting: Setting
    starts: tuple[int, ...]
    plan: LearningPlan
    leaves: ValueLeaves
    policy_gradient: tuple[Curve, ...]
    q_learning: tuple[Curve, ...]
    learning: tuple[Learning, ...]
    """One for each curve, policy gradient's first."""
    optimal_q: Float[np.ndarray, "n 2"]
    horizon_q: Float[np.ndarray, "n 2"]
    theorem: tuple[TheoremCheck, ...]
    traces: tuple[Trace, ...]
    """From the last of the starts: the paper's Appendix B starts in s3."""
    horizon_leaves: ValueLeaves
    horizon_leaf_q_learning: tuple[Curve, ...]
    """Q-learning again, with Appendix C's leaves; none if these favour no action or the wrong one
    (p ≤ ½, or a single time step)."""
    least_wrong: tuple[float, float]
    comparisons: tuple[Comparison, ...] = ()
    """What the paper prints, at the paper's own setting only."""

    @property
    def curves(self) -> tuple[Curve, ...]:
        return self.policy_gradient + self.q_learning


def analyse(
    setting: Setting = PAPER,
    starts: tuple[int, ...] = (),
    plan: LearningPlan | None = None,
) -> Analysis:
    """Everything about one chain. Without `starts`, episodes start in i* and in i*+1."""
    plan = plan or LearningPlan()
    starts = starts or (setting.istar, setting.istar + 1)
    for start in starts:
        setting.check_start(start)
    low, high = -2.0, setting.n + 3.0
    grid = phi_grid(setting, low, high)
    leaves, horizon_leaves = main_text_leaves(setting), appendix_c_leaves(setting)
    policy_gradient = policy_gradient_curves(setting, starts, grid)
    q_learning = q_learning_curves(setting, starts, grid, leaves)
    first, rate = initial_phis(setting), plan.rate / setting.horizon
    return Analysis(
        setting=setting,
        starts=starts,
        plan=plan,
        leaves=leaves,
        policy_gradient=policy_gradient,
        q_learning=q_learning,
        learning=tuple(
            iterate_updates(curve.phi, curve.total, first, rate, plan.steps)
            for curve in policy_gradient + q_learning
        ),
        optimal_q=optimal_q(setting),
        horizon_q=finite_horizon_q(setting),
        theorem=tuple(
            check_theorem(setting, p) for p in sorted({setting.p, *THEOREM_PS}, reverse=True)
        ),
        traces=traces(setting, starts[-1]),
        horizon_leaves=horizon_leaves,
        horizon_leaf_q_learning=(
            q_learning_curves(setting, starts, grid, horizon_leaves)
            if horizon_leaves.good > horizon_leaves.bad
            else ()
        ),
        least_wrong=least_wrong(setting, low, high),
        comparisons=compare_print() if setting == PAPER else (),
    )


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Plain dictionaries, lists and numbers."""
    return {
        "format": FORMAT,
        "version": 1,
        "setting": asdict(analysis.setting),
        "starts": list(analysis.starts),
        "optimal_phi": analysis.setting.optimal_phi,
        "policy_gradient": [_curve(curve) for curve in analysis.policy_gradient],
        "q_learning": [_curve(curve) for curve in analysis.q_learning],
        "q_learning_leaves": _leaves(analysis.leaves),
        "learning": _learning(analysis),
        "appendix_a": {
            "q_without_horizon": analysis.optimal_q.tolist(),
            "q_with_horizon": analysis.horizon_q.tolist(),
            "theorem": [
                {**asdict(check), "exceptions": list(check.exceptions)}
                for check in analysis.theorem
            ],
        },
        "appendix_b": {
            "start": analysis.starts[-1],
            "traces": [
                {
                    "phi": trace.phi,
                    "steps": [[step.state, step.reward, step.action] for step in trace.steps],
                    "value": trace.value,
                }
                for trace in analysis.traces
            ],
        },
        "appendix_c": {
            "leaves": _leaves(analysis.horizon_leaves),
            "q_learning": [_curve(curve) for curve in analysis.horizon_leaf_q_learning],
        },
        "appendix_d": {
            "phi": analysis.least_wrong[0],
            "probability": analysis.least_wrong[1],
        },
        "paper": [asdict(comparison) for comparison in analysis.comparisons],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    terminal = {} if curve.terminal is None else {"terminal": curve.terminal.name}
    return {
        "start": curve.start,
        **terminal,
        "zeros": [zero.phi for zero in curve.zeros],
        "kinds": [zero.kind for zero in curve.zeros],
        "attracts": [zero.attracts for zero in curve.zeros],
        "optimality": curve.optimality_at_zeros,
        "distance_to_value": curve.distance_to_value,
    }


def _leaves(leaves: ValueLeaves) -> dict[str, float]:
    return {"favoured": leaves.good, "other": leaves.bad}


def _learning(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "method": curve.method,
            "start": curve.start,
            "terminal": None if curve.terminal is None else curve.terminal.name,
            "rate": analysis.plan.rate,
            "steps": analysis.plan.steps,
            "optimal_before": learning.optimal_before(analysis.setting),
            "optimal_after": learning.optimal_after(analysis.setting),
            "stuck": learning.stuck(analysis.setting),
            "first": learning.first.tolist(),
            "last": learning.last.tolist(),
        }
        for curve, learning in zip(analysis.curves, analysis.learning, strict=True)
    ]
