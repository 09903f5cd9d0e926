"""Records out of the air: what a run would have written, had it earned these returns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from crisptree.crisp import CrispTree
from crisptree.lab.experiments.cell import CRISPENED, IMITATORS, LEARNERS, cell_of
from crisptree.lab.experiments.domain import Domain, domain_of_env, load_domain
from crisptree.lab.experiments.record import Record, SeedResult

CARTPOLE, LANDER = load_domain("cartpole"), load_domain("lunarlander")
MINE = domain_of_env("Mine-v0")
ENV = CARTPOLE.env
NAMES = ("position", "velocity", "angle", "angular velocity"), ("left", "right")
STUMP = CrispTree.from_nested(("angle", 0.0, "right", "left"), *NAMES, env_id=ENV)
TALLER = CrispTree.from_nested(
    ("angle", 0.0, ("velocity", 1.0, "left", "right"), "left"), *NAMES, env_id=ENV
)


def made(
    model: Any,
    size: int | None,
    scores: Sequence[float],
    *,
    domain: Domain = CARTPOLE,
    first_seed: int = 0,
    crisp_scores: Sequence[float] | None = None,
    selection: Sequence[float] | None = None,
    tree: CrispTree = STUMP,
    episodes: int = 2,
    teacher: str | None = None,
    overrides: dict[str, Any] | None = None,
) -> Record:
    """A record whose seeds' mean returns are `scores`; selection returns are the same or given."""
    seeds = []
    for i, score in enumerate(scores):
        returns = (score - 1.0, score + 1.0)
        chosen = score if selection is None else selection[i]
        curve = ((100.0, 0.0), (200.0 + i, score / 2), (300.0, score))
        crisp = {"crisp_selection": chosen, "policy": tree}
        figures: dict[str, Any] = {"seed": first_seed + i, "seconds": 1.0}
        if model in CRISPENED or model in IMITATORS:
            figures |= {"crisp_returns": returns, **crisp}
        else:
            figures |= {"soft_returns": returns}
        if model in LEARNERS:
            figures |= {"soft_selection": chosen}
        if crisp_scores is not None:
            low = crisp_scores[i]
            figures |= {**crisp, "crisp_returns": (low, low), "crisp_selection": low}
        if model in CRISPENED or model in LEARNERS:
            figures |= {"curve": curve, "steps": 300}
        seeds.append(SeedResult(**figures))
    cell = cell_of(domain, model, size, episodes, overrides or {})
    cell = replace(cell, teacher=teacher).with_seeds(first_seed, len(scores))
    command = f"crisptree train --seed {first_seed}"
    return Record(cell.key, cell, tuple(seeds), None, command, {"python": "3"})


def table_records(domain: Domain = CARTPOLE, lift: float = 0.0) -> list[Record]:
    """One of everything, two seeds each."""
    soft = made("soft-tree", 4, (90 + lift, 100 + lift), domain=domain, crisp_scores=(30.0, 50.0))
    crisp = [
        made("crisp-tree", size, (score,), domain=domain, first_seed=seed, tree=tree)
        for size, scores, tree in ((2, (70.0, 74.0), STUMP), (8, (71.0, 75.0), TALLER))
        for seed, score in enumerate(scores)
    ]
    return [
        soft,
        made("soft-list", 4, (80.0, 82.0), domain=domain, crisp_scores=(20.0, 21.0)),
        made("mlp", 0, (85.0, 95.0), domain=domain),
        made("mlp", 2, (60.0, 61.0), domain=domain),
        *crisp,
        made("state-action-dt", 4, (40.0, 60.0), domain=domain, teacher=f"{soft.key}#1"),
        made("random", None, (10.0, 12.0), domain=domain),
    ]


def first_edition(model: str, size: int | None, score: float, *, seed: int = 0, **cell) -> Record:
    """A record of the first edition, as it stands in its file."""
    key = f"cartpole-v1/{model}-{size}-seeds-{seed}-{seed}-0123456789"
    named = {"env": ENV, "model": model, "size": size, "first_seed": seed, "n_seeds": 1}
    named |= {"episodes": 2, "steps": None, "learning_rate": None, "teacher": None}
    named |= {"route": "direct" if model in CRISPENED else None, **cell}
    result = {"seed": seed, "crisp_returns": [score], "crisp_selection": score}
    result |= {"policy": STUMP.to_dict(), "seconds": 1.0}
    if model in LEARNERS:
        result = {"seed": seed, "soft_returns": [score], "soft_selection": score}
    return Record.from_dict(
        {
            "format": "crisptree.record",
            "version": 1,
            "edition": 1,
            "key": key,
            "cell": named,
            "command": f"crisptree train CartPole-v1 --seed {seed}",
            "versions": {},
            "seeds": [result],
        }
    )
