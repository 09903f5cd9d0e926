"""The figures at the end: what the policy earns, beside random play and a constant action."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from crisptree.base.text import counted
from crisptree.envs.evaluate import Baselines, digits
from crisptree.envs.task import Task
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import command, config_hash

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
ROUNDING = 1e-9
BETTER = "better than random and constant"
UNKNOWN = "not compared: there was no time for baselines"
HALF_KNOWN = "better than random; there was no time to try constant actions"
OPEN = (UNKNOWN, HALF_KNOWN)
"""Verdicts that do not say everything, for want of time."""


def scored(
    returns: np.ndarray,
    baselines: Baselines,
    exact: dict[str, float] | None = None,
    asked: int | None = None,
) -> dict[str, Any]:
    """The crisp return with its standard error, quantiles and worst episode, beside baselines.

    `exact` has what the environment's own model says, where it carries one: `exact_return`, and the
    `optimum` where it is known. `asked` is how many episodes were asked for.
    """
    n = len(returns)
    figures = {
        "crisp_return": float(returns.mean()),
        "crisp_return_se": float(returns.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
        "crisp_return_min": float(returns.min()),
        "quantiles": {f"{q:g}": float(np.quantile(returns, q)) for q in QUANTILES},
        "episodes": n,
        **({} if asked in (None, n) else {"episodes_asked": asked}),
        "random_return": baselines.random_return,
        "constant_return": baselines.constant_return,
        "constant_action": baselines.constant_action,
        **(exact or {}),
    }
    return {**figures, "verdict": verdict(figures)}


def verdict(figures: dict[str, Any]) -> str:
    """Whether anything was learned: the exact mean where it is known, else the mean less two
    standard errors, against the baselines."""
    surely = figures["crisp_return"] - 2 * (figures["crisp_return_se"] or 0.0)
    surely = figures.get("exact_return", surely)
    by_chance, constant = figures["random_return"], figures.get("constant_return")
    if by_chance is None:
        return UNKNOWN
    if not _is_above(surely, by_chance):
        return "no better than random"
    if constant is None:
        return HALF_KNOWN
    return BETTER if _is_above(surely, constant) else "no better than a constant action"


def _is_above(value: float, other: float) -> bool:
    """Whether a return is higher by more than what summing rewards rounds."""
    return value > other and not math.isclose(value, other, rel_tol=ROUNDING, abs_tol=ROUNDING)


def teacher_return(records: Sequence[dict[str, Any]]) -> float | None:
    """What the teacher that the tree learned from earned while it was imitated."""
    known = [record["teacher_return"] for record in records if "teacher_return" in record]
    return known[-1] if known else None


def what_to_try(config: TrainConfig, task: Task) -> str:
    """What may help if nothing was learned: only what goes with the task and was not done."""
    size = "--rules" if config.policy.shape == "list" else "--leaves"
    ideas = ["more --steps" if config.budget is None else "a longer --budget", f"more {size}"]
    used = {*config.candidates.beginnings, "external" if config.teacher.policy else None}
    if config.paper.enabled:
        ideas.append("training without --paper")
    elif task.actions.kind == "discrete" and task.n_agents is None and "dqn" not in used:
        ideas.append("--teacher dqn")
    elif task.actions.kind == "box" and config.policy.leaf == "constant":
        ideas.append("--policy.leaf linear")
    return f"{', '.join(ideas)} or other features (--features)"


def gap(soft_return: float | None, figures: dict[str, Any]) -> dict[str, Any]:
    """What was lost on the way to crisp, plain and as a share of the range random to soft."""
    if soft_return is None:
        return {"gap": None, "gap_share": None}
    lost = soft_return - figures["crisp_return"]
    if figures["random_return"] is None:
        return {"gap": lost, "gap_share": None}
    span = max(soft_return, figures["crisp_return"]) - figures["random_return"]
    return {"gap": lost, "gap_share": lost / span if span > 0 else None}


def about(config: TrainConfig) -> dict[str, Any]:
    """The fields of every summary that identify the run."""
    return {
        "env": config.env.id,
        "command": command(config),
        "config_hash": config_hash(config),
    }


def in_words(summary: dict[str, Any]) -> list[str]:
    """The closing lines."""
    lines = []
    for run in summary.get("runs", [summary]):
        lines += _run_in_words(run)
    means = summary.get("crisp_return")
    if isinstance(means, dict):
        every, fmt = means["every"], digits(means["every"])
        lines.append(
            f"mean over {len(every)} seeds {fmt(means['mean'])} "
            f"({', '.join(fmt(value) for value in every)})"
        )
    return lines


def _run_in_words(run: dict[str, Any]) -> list[str]:
    head = f"seed {run['seed']}: "
    indent = " " * len(head)
    played = counted(run["episodes"], "unseen episode")
    if run.get("crisp_return") is None:
        fmt = digits([run["soft_return"], run["soft_return_min"]])
        return [
            f"{head}return {fmt(run['soft_return'])} over {played} "
            f"(worst {fmt(run['soft_return_min'])}); soft, not a tree to read"
        ]
    known = [run[name] for name in ("crisp_return", "random_return", "constant_return")]
    error = run.get("crisp_return_se")
    fmt = digits([value for value in known if value is not None], error)
    lines = [
        f"{head}{counted(run['leaves'], 'leaf', 'leaves')}, depth {run['depth']}: "
        + f"return {fmt(run['crisp_return'])}"
        + (f" ± {fmt(error)}" if error is not None else "")
        + f" over {played} (worst {fmt(run['crisp_return_min'])}"
        + _quantiles_in_words(run, fmt)
        + (f"; {run['beginning']}" if run.get("beginning") else "")
        + ")"
    ]
    if run.get("episodes_asked") is not None:
        lines.append(
            f"{indent}{run['episodes_asked']} episodes were asked for; there was no time for more"
        )
    if run.get("cut_episodes"):
        lines.append(
            f"{indent}{run['cut_episodes']} of them did not end and were cut, at the limit of "
            "steps or for want of time"
        )
    if run.get("exact_return") is not None:
        lines.append(indent + _exact_in_words(run))
    comparisons = [
        f"{what} {fmt(run[name])}"
        for what, name in (
            ("random play", "random_return"),
            ("the best constant action", "constant_return"),
            ("the teacher", "teacher_return"),
            ("the soft policy", "soft_return"),
        )
        if run.get(name) is not None
    ]
    if comparisons:
        lines.append(f"{indent}for comparison: {', '.join(comparisons)}")
    if _has_soft(run):
        lines.append(indent + _gap_in_words(run, fmt))
    if run["verdict"] in OPEN:
        lines.append(f"{indent}{run['verdict']}")
    elif run["verdict"] != BETTER:
        lines.append(
            f"{indent}the tree is {run['verdict']}: nothing was learned that would help; "
            f"{run.get('to_try', 'a longer --budget, more --leaves or other features')} may"
        )
    return lines


def _quantiles_in_words(run: dict[str, Any], fmt: Any) -> str:
    known = run.get("quantiles", {})
    if "0.05" not in known or "0.5" not in known:
        return ""
    return f", 5% below {fmt(known['0.05'])}, median {fmt(known['0.5'])}"


def _exact_in_words(run: dict[str, Any]) -> str:
    said = f"by the environment's own model the mean return is {run['exact_return']:.6g}"
    optimum = run.get("optimum")
    return said if optimum is None else f"{said}; at best it is {optimum:.6g}"


def _has_soft(run: dict[str, Any]) -> bool:
    return run.get("soft_return") is not None


def _gap_in_words(run: dict[str, Any], fmt: Any) -> str:
    lost = run["gap"]
    if lost <= (run.get("crisp_return_se") or 0.0):
        return "the crisp tree earns no less than the soft policy"
    return f"the crisp tree earns {fmt(lost)} less than the soft policy"


def gathered(config: TrainConfig, every: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Every seed's figures, and their means."""
    summary = {
        **about(config),
        "seeds": [each["seed"] for each in every],
        "seconds": round(sum(each["seconds"] for each in every), 2),
    }
    for name in ("soft_return", "crisp_return", "gap", "leaves"):
        values = [each[name] for each in every if each.get(name) is not None]
        if values:
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
            mean, worst = float(np.mean(values)), min(values)
            summary[name] = {"mean": mean, "sd": spread, "min": worst, "every": values}
    summary["runs"] = list(every)
    return summary
