"""What one run is: an environment, a model of some size, and the seeds that learn side by side."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.domains import slug
from crisptree.pipeline.routes import Route

Model = Literal[
    "soft-tree",
    "soft-list",
    "mlp",
    "crisp-tree",
    "crisp-list",
    "state-action-dt",
    "dagger-dt",
    "random",
    "scripted",
]
MODELS: tuple[Model, ...] = get_args(Model)
LEARNERS = ("soft-tree", "soft-list", "mlp")
"""Models whose seeds learn side by side in one run; the best of them teaches the imitators."""
CRISPENED = ("crisp-tree", "crisp-list")
IMITATORS = ("state-action-dt", "dagger-dt")
FIXED = ("random", "scripted")
"""Policies that nobody trains: they have no size."""

SIZE_WORDS: dict[str, str] = {
    "soft-tree": "leaves",
    "soft-list": "rules",
    "mlp": "hidden layers",
    "crisp-tree": "leaves",
    "crisp-list": "rules",
    "state-action-dt": "leaves",
    "dagger-dt": "leaves",
}


@dataclass(frozen=True)
class Cell:
    """One run. Equal cells have equal keys, and a store never runs a key twice."""

    env: str
    model: Model
    size: int | None
    """Most leaves, most rules, or hidden layers; None for policies that nobody trains."""
    first_seed: int
    n_seeds: int
    episodes: int
    """Reporting episodes a seed."""
    steps: int | None = None
    """Environment steps of the main training; None: what the recipe says."""
    learning_rate: float | None = None
    teacher: str | None = None
    """Whom an imitator watches: the key of a learner's run and a seed, `KEY#SEED`."""
    route: Route | None = None
    """Of crispened models, which must have one."""

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise CrisptreeError(f"no model '{self.model}'; the models are {', '.join(MODELS)}")
        if (self.size is None) != (self.model in FIXED):
            raise CrisptreeError(f"a {self.model} with size {self.size}: only learned models have")
        if (self.route is None) != (self.model not in CRISPENED):
            raise CrisptreeError(f"a {self.model} by route {self.route}: only crisp ones have one")

    @property
    def seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.n_seeds)

    @property
    def variant(self) -> "Cell":
        """The cell without its seeds: what statistics are taken over."""
        return dataclasses.replace(self, first_seed=0, n_seeds=0)

    @property
    def name(self) -> str:
        """Short words for a progress bar."""
        size = "" if self.size is None else f" {self.size}"
        rate = "" if self.learning_rate is None else f" lr {self.learning_rate:g}"
        last = "" if self.n_seeds == 1 else f"–{self.seeds[-1]}"
        return f"{slug(self.env)} {self.model}{size}{rate} seed {self.first_seed}{last}"

    @property
    def key(self) -> str:
        """A path that is readable and, by its digest, unique: `cartpole-v1/mlp-2-seeds-0-4-…`."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        size = "" if self.size is None else f"-{self.size}"
        seeds = f"seeds-{self.first_seed}-{self.seeds[-1]}"
        return f"{slug(self.env)}/{self.model}{size}-{seeds}-{digest}"

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(content: dict[str, Any]) -> "Cell":
        try:
            return Cell(**content)
        except TypeError as error:
            raise CrisptreeError(f"not a cell: {error}") from error
