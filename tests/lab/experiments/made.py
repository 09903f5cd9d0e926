"""Records out of the air: what a run would have written, had it earned these returns."""

from collections.abc import Sequence

from crisptree.crisp import CrispTree
from crisptree.lab.experiments.cell import CRISPENED, IMITATORS, LEARNERS, Cell
from crisptree.lab.experiments.record import Record, SeedFigures
from crisptree.pipeline.routes import route_for

ENV = "CartPole-v1"
NAMES = ("position", "velocity", "angle", "angular velocity"), ("left", "right")
STUMP = CrispTree.from_nested(("angle", 0.0, "right", "left"), *NAMES, env_id=ENV)
TALLER = CrispTree.from_nested(
    ("angle", 0.0, ("velocity", 1.0, "left", "right"), "left"), *NAMES, env_id=ENV
)


def made(
    model: str,
    size: int | None,
    scores: Sequence[float],
    *,
    env: str = ENV,
    first_seed: int = 0,
    crisp_scores: Sequence[float] | None = None,
    selection: Sequence[float] | None = None,
    tree: CrispTree = STUMP,
    episodes: int = 2,
    **cell,
) -> Record:
    """A record whose seeds' mean returns are `scores`; selection returns are the same or given."""
    seeds = []
    for i, score in enumerate(scores):
        returns = (score - 1.0, score + 1.0)
        chosen = score if selection is None else selection[i]
        curve = ((100.0, 0.0), (200.0 + i, score / 2), (300.0, score))
        crisp = {"crisp_selection": chosen, "policy": tree.to_dict()}
        figures: dict = {"seed": first_seed + i, "seconds": 1.0}
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
        seeds.append(SeedFigures(**figures))
    if model in CRISPENED:
        cell = {"route": route_for(env), **cell}
    whole = Cell(env, model, size, first_seed, len(scores), episodes, **cell)  # type: ignore[arg-type]
    return Record(whole, tuple(seeds), f"crisptree train --seed {first_seed}", {"python": "3"})


def table_records(env: str = ENV, lift: float = 0.0) -> list[Record]:
    """One of everything, two seeds each."""
    soft = made("soft-tree", 4, (90 + lift, 100 + lift), env=env, crisp_scores=(30.0, 50.0))
    teacher = f"{soft.cell.key}#1"
    crisp = [
        made("crisp-tree", size, (score,), env=env, first_seed=seed, tree=tree)
        for size, scores, tree in ((2, (70.0, 74.0), STUMP), (8, (71.0, 75.0), TALLER))
        for seed, score in enumerate(scores)
    ]
    return [
        soft,
        made("soft-list", 4, (80.0, 82.0), env=env, crisp_scores=(20.0, 21.0)),
        made("mlp", 0, (85.0, 95.0), env=env),
        made("mlp", 2, (60.0, 61.0), env=env),
        *crisp,
        made("state-action-dt", 4, (40.0, 60.0), env=env, teacher=teacher),
        made("random", None, (10.0, 12.0), env=env),
    ]
