"""The whole analysis of one setting, as one record that tables, figures and JSON read."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.curves import Curve, policy_gradient_curves, q_learning_curves
from crisptree.lab.analysis.learning import Learning, first_phis, follow
from crisptree.lab.analysis.optimal import (
    TheoremCheck,
    appendix_c_leaves,
    check_theorem,
    finite_horizon_q,
    optimal_q,
)
from crisptree.lab.analysis.paper import Comparison, compare_print
from crisptree.lab.analysis.setting import PAPER, Setting
from crisptree.lab.analysis.traces import Trace, traces
from crisptree.lab.analysis.tree import ValueLeaves, main_text_leaves
from crisptree.lab.analysis.wrong_action import least_wrong
from crisptree.lab.analysis.zeros import phi_grid

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
    comparisons: tuple[Comparison, ...] = field(default=())
    """The paper's print; only at the paper's own setting."""

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
    first, rate = first_phis(setting), plan.rate / setting.horizon
    return Analysis(
        setting=setting,
        starts=starts,
        plan=plan,
        leaves=leaves,
        policy_gradient=policy_gradient,
        q_learning=q_learning,
        learning=tuple(
            follow(curve.phi, curve.total, first, rate, plan.steps)
            for curve in policy_gradient + q_learning
        ),
        optimal_q=optimal_q(setting),
        horizon_q=finite_horizon_q(setting),
        theorem=tuple(check_theorem(setting, p) for p in _with(setting.p, THEOREM_PS)),
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


def _with(p: float, ladder: tuple[float, ...]) -> list[float]:
    return sorted({p, *ladder}, reverse=True)
