"""The analysis as one JSON object."""

from dataclasses import asdict
from typing import Any

from crisptree.lab.analysis.analyse import Analysis
from crisptree.lab.analysis.curves import Curve
from crisptree.lab.analysis.tree import ValueLeaves

FORMAT = "crisptree.lab.analysis"


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
