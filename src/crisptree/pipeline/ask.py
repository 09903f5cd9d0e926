"""From the few settings that matter to a whole configuration."""

from dataclasses import replace
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.config import RACED, SIZE_NAMES, TrainConfig
from crisptree.pipeline.config_io import with_overrides

QUICK_MINUTES = 0.8


def asked_config(
    base: TrainConfig,
    *,
    leaves: int | None = None,
    rules: int | None = None,
    mlp: int | None = None,
    leaf: str | None = None,
    gains: int | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    budget: float | None = None,
    steps: int | None = None,
    quick: bool = False,
    episodes: int | None = None,
    teacher: str | None = None,
    direct: bool = False,
    start_from: str | None = None,
    paper: bool = False,
    features: str | None = None,
    derive: bool = False,
    worst_case: bool = False,
    overrides: dict[str, Any] | None = None,
) -> TrainConfig:
    """`base` with what was asked for; what was left out stays as it is."""
    sizes = {"tree": leaves, "list": rules, "mlp": mlp}
    given = [(kind, size) for kind, size in sizes.items() if size is not None]
    for kind, size in given:
        if type(size) is not int:
            raise CrisptreeError(f"{SIZE_NAMES[kind]} must be a whole number, not {size!r}")
    if len(given) > 1:
        one, other = (SIZE_NAMES[kind] for kind, _ in given[:2])
        raise CrisptreeError(f"{one} and {other} exclude each other: give one")
    if direct and (teacher is not None or start_from is not None):
        raise CrisptreeError("direct starts from nothing: leave out teacher and start-from")
    if paper and (direct or teacher is not None or start_from is not None):
        raise CrisptreeError("the paper's way starts from nothing: leave out teacher, start-from")
    if teacher is not None and start_from is not None:
        raise CrisptreeError("teacher and start-from exclude each other: give one")
    if budget is not None and steps is not None:
        raise CrisptreeError("budget and steps exclude each other: give one")
    if quick and (budget is not None or steps is not None):
        raise CrisptreeError("quick is a budget of its own: leave out budget and steps")
    changes: dict[str, Any] = {
        "policy.leaf": leaf,
        "policy.gains": gains,
        "seed": seed,
        "seeds": seeds,
        "budget": QUICK_MINUTES if quick else budget,
        "steps": steps,
        "episodes": episodes,
        "start_from": start_from,
        "paper.enabled": True if paper else None,
        "env.features": features,
        "derive.enabled": True if derive else None,
        "worst_case.enabled": True if worst_case else None,
    }
    if given:
        changes["policy.kind"], changes["policy.size"] = given[0]
    if direct:
        changes["candidates.beginnings"] = ["direct"]
    elif teacher in RACED:
        changes["candidates.beginnings"] = [teacher]
    elif teacher is not None:
        changes["teacher.policy"] = teacher
    if budget is not None or quick:
        base = replace(base, steps=None)
    if steps is not None:
        base = replace(base, budget=None)
    wanted = {name: value for name, value in changes.items() if value is not None}
    return with_overrides(base, {**wanted, **(overrides or {})})
