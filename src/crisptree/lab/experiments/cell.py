"""What one run of a grid is: a model, and the configuration that it is trained with."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.domain import Domain, slug
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import (
    PROCEDURE,
    config_hash,
    digest,
    from_dict,
    known_fields,
    to_dict,
    with_overrides,
)

Model = Literal[
    "soft-tree",
    "soft-list",
    "mlp",
    "linear-rule",
    "crisp-tree",
    "crisp-list",
    "state-action-dt",
    "dagger-dt",
    "random",
    "scripted",
]
MODELS: tuple[Model, ...] = get_args(Model)
LEARNERS = ("soft-tree", "soft-list", "mlp", "linear-rule")
"""Models whose seeds learn side by side in one run; the best of them teaches the imitators."""
CRISPENED = ("crisp-tree", "crisp-list")
IMITATORS = ("state-action-dt", "dagger-dt")
UNTRAINED = ("random", "scripted")

SIZE_WORDS: dict[str, str] = {
    "soft-tree": "leaves",
    "soft-list": "rules",
    "mlp": "hidden layers",
    "crisp-tree": "leaves",
    "crisp-list": "rules",
    "state-action-dt": "leaves",
    "dagger-dt": "leaves",
}
"""What the size of a model counts; the other models have no size."""


@dataclass(frozen=True)
class Cell:
    """One run. Its key follows from its model and its configuration; a store has a key once.

    The configuration names environment, size, seeds, reporting episodes and steps. It leaves no
    number to be measured: a cell counts steps, never minutes.
    """

    model: Model
    config: TrainConfig
    teacher: str | None = None
    """The teacher of an imitator: the key of a learner's record and a seed, `KEY#SEED`."""
    script: str | None = None
    """The function in `scripts` that a scripted policy is."""
    edition: int = PROCEDURE
    """The procedure that the configuration was meant for."""
    recorded_hash: str | None = None
    """The variant's hash under an earlier procedure, whose configuration had other fields."""

    def __post_init__(self) -> None:
        if self.config.budget is not None:
            raise CrisptreeError("a cell counts steps, not minutes: its config has a budget")

    @property
    def env(self) -> str:
        return self.config.env.id

    @property
    def size(self) -> int | None:
        """Most leaves, most rules, or hidden layers; None for models without a size."""
        return self.config.policy.size if self.model in SIZE_WORDS else None

    @property
    def seeds(self) -> range:
        return range(self.config.seed, self.config.seed + self.config.seeds)

    @property
    def episodes(self) -> int:
        """Reporting episodes of each seed."""
        return self.config.episodes

    @property
    def learning_rate(self) -> float | None:
        return self.config.paper.learning_rate

    @property
    def beginning(self) -> str | None:
        """How a crispened policy begins, if the configuration says so."""
        return "+".join(self.config.candidates.beginnings) or None

    @property
    def name(self) -> str:
        """Short words for a progress bar."""
        size = "" if self.size is None else f" {self.size}"
        rate = "" if self.learning_rate is None else f" lr {self.learning_rate:g}"
        last = "" if len(self.seeds) == 1 else f"–{self.seeds[-1]}"
        return f"{slug(self.env)} {self.model}{size}{rate} seed {self.seeds[0]}{last}"

    @cached_property
    def key(self) -> str:
        """A path that is readable and, by its digest, unique: `cartpole-v1/mlp-2-seeds-0-4-…`."""
        content = {
            "model": self.model,
            "config": config_hash(self.config),
            "teacher": self.teacher,
            "script": self.script,
        }
        size = "" if self.size is None else f"-{self.size}"
        seeds = f"seeds-{self.seeds[0]}-{self.seeds[-1]}"
        return f"{slug(self.env)}/{self.model}{size}-{seeds}-{digest(content)}"

    @cached_property
    def variant_hash(self) -> str:
        """The config hash of the cell without its seeds: what statistics are taken over."""
        if self.recorded_hash is not None:
            return self.recorded_hash
        return config_hash(replace(self.config, seed=0, seeds=1))

    @property
    def variant(self) -> tuple[int, str, str, str | None]:
        """Equal for cells that differ in their seeds only."""
        return self.edition, self.model, self.variant_hash, self.teacher

    def with_seeds(self, first: int, count: int) -> "Cell":
        return replace(self, config=replace(self.config, seed=first, seeds=count))

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "config": to_dict(self.config),
            "teacher": self.teacher,
            "script": self.script,
            "edition": self.edition,
            "config_hash": self.variant_hash,
        }

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "Cell":
        """The cell of a record; of an earlier procedure's configuration, what there still is."""
        try:
            model, edition = content["model"], int(content["edition"])
            is_earlier = edition < PROCEDURE
            known = (
                known_fields(TrainConfig, content["config"]) if is_earlier else content["config"]
            )
            config = from_dict(TrainConfig, known, "cell.config")
            recorded = str(content["config_hash"]) if is_earlier else None
            named = {name: content[name] for name in ("teacher", "script")}
        except (KeyError, TypeError, ValueError) as error:
            raise CrisptreeError(f"not a cell: {error!r}") from error
        if model not in MODELS:
            raise CrisptreeError(f"no model {model!r}; the models are {', '.join(MODELS)}")
        if not all(value is None or isinstance(value, str) for value in named.values()):
            raise CrisptreeError("a cell's teacher and script must be text")
        return Cell(model, config, **named, edition=edition, recorded_hash=recorded)


def cell_of(
    domain: Domain, model: Model, size: int | None, episodes: int, overrides: dict[str, Any]
) -> Cell:
    """The cell of a model in a domain, for seed 0; imitators get their teacher later.

    What a model does not depend on is left at its default, so that it does not change the key.
    """
    kind = "soft" if model.startswith("soft-") else "crisp" if model in CRISPENED else model
    base = domain.config
    changes: dict[str, Any] = {"episodes": episodes}
    if model in UNTRAINED:
        base = TrainConfig(env=base.env)
    elif model in IMITATORS:
        base = TrainConfig(env=base.env, distill=base.distill)
        changes |= {"policy.size": size}
    else:
        changes |= domain.models.get("mlp" if model == "linear-rule" else kind, {})
        changes |= overrides
        changes |= {"policy.kind": _policy_kind(model), "policy.size": size or 0}
    if model in LEARNERS:
        changes |= {"candidates.beginnings": [], "candidates.count": None}
        changes |= {"paper.enabled": kind == "soft"}
    if model in CRISPENED and base.candidates.tries is None:
        # The outcome must not depend on the number of cores.
        changes.setdefault("candidates.tries", base.candidates.count or 1)
    script = None
    if model == "scripted":
        if domain.script is None:
            raise CrisptreeError(f"no script for {domain.env}: leave 'scripted' out of --models")
        script = domain.script.policy
    return Cell(model, with_overrides(base, changes), script=script)


def _policy_kind(model: Model) -> str:
    if model in ("mlp", "linear-rule"):
        return "mlp"
    return "list" if model.endswith("list") else "tree"
