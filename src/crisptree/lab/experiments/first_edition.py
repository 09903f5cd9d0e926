"""Reads records of the first edition, which did not hash configurations."""

from typing import Any, Literal

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.cell import Cell
from crisptree.pipeline.config import (
    CandidateConfig,
    EnvConfig,
    PaperConfig,
    PolicyConfig,
    TrainConfig,
)

KINDS: dict[str, Literal["list", "mlp"]] = {
    "soft-list": "list",
    "crisp-list": "list",
    "mlp": "mlp",
}


def cell_of_first_edition(content: dict[str, Any]) -> Cell:
    """What a record of version 1 says of its run. Its configuration names the run; it is not the
    one that the policy was trained with, which is a recipe in the record's store."""
    try:
        route, model = content["route"], content["model"]
        config = TrainConfig(
            env=EnvConfig(content["env"]),
            policy=PolicyConfig(KINDS.get(model, "tree"), content["size"]),
            seed=content["first_seed"],
            seeds=content["n_seeds"],
            steps=content["steps"],
            episodes=content["episodes"],
            candidates=CandidateConfig(() if route is None else (route,)),
            paper=PaperConfig(model.startswith("soft-"), learning_rate=content["learning_rate"]),
        )
        return Cell(model, config, content["teacher"], edition=1)
    except (KeyError, TypeError, AttributeError) as error:
        raise CrisptreeError(f"not a cell of the first edition: {error!r}") from error
