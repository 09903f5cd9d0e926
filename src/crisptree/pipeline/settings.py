"""What a person asks of `crisptree train`."""

import dataclasses
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.options import OptionalFloat, OptionalInt, OptionalPath, OptionalStr

MOST_STARTS = 63
MOST_SEEDS = 2**32


@dataclass(frozen=True)
class Settings:
    """One training, from nothing to a drawn tree."""

    env: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ENV")]
    """Any Gymnasium id with Box observations and Discrete actions; `module:Id` imports first."""
    leaves: OptionalInt = None
    """Most leaves of the crisp tree (16 unless given); with --paper, leaves of the soft tree."""
    rules: OptionalInt = None
    """A rule list of at most this many rules instead of a tree."""
    mlp: OptionalInt = None
    """Train the baseline MLP with this many hidden layers instead; nothing is made crisp."""
    seed: int = 0
    """All randomness follows from it."""
    seeds: int = 1
    """Train this many seeds, seed, seed + 1, …; every one is reported."""
    steps: OptionalInt = None
    """Environment steps of the main training; the later stages take their shares on top."""
    budget: OptionalFloat = None
    """Minutes the whole training may take; sets the steps by a short measurement."""
    direct: bool = False
    """No teacher: the tree learns from scratch (the default on CartPole)."""
    teacher: OptionalStr = None
    """Learn from a teacher first: `soft`, `mlp`, a policy file, a Stable-Baselines3 zip or
    `module:callable`. (Unless told: `soft` in wildfire, `mlp` in zerglings; host environments:
    starts with `mlp` and --direct in turn.)"""
    start_from: OptionalPath = None
    """Start from an expert's tree: a policy file, or rules in words."""
    paper: bool = False
    """The paper's way: an oblique soft tree, discretised at the end by argmax."""
    algorithm: Literal["ppo", "reinforce", "q", "online-q"] = "ppo"
    """With --paper or --mlp: how to learn (`q`: a DQN; `online-q`: the paper's Eq. 5)."""
    optimiser: Literal["adam", "rmsprop"] = "adam"
    """With --paper or --mlp: Adam, or the paper's RMSProp."""
    feature_choice: Literal["magnitude", "signed"] = "magnitude"
    """With --paper: how a node's one feature is chosen (`signed`: the paper's text)."""
    learning_rate: OptionalFloat = None
    """Step size of the main training, where the default does not serve."""
    starts: OptionalInt = None
    """Independent starts, the best of which is kept (default: as many as cores, for host
    environments)."""
    episodes: int = 100
    """Episodes the crisp tree is scored on, on seeds that training never saw."""

    def __post_init__(self) -> None:
        given = [name for name in ("leaves", "rules", "mlp") if getattr(self, name) is not None]
        if len(given) > 1:
            raise CrisptreeError(f"--{given[0]} and --{given[1]} exclude each other: give one")
        least = {"leaves": 2, "rules": 1, "mlp": 0, "steps": 1, "starts": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise CrisptreeError(f"--{name} must be at least {low}, not {value}")
        for name in ("seeds", "episodes"):
            if getattr(self, name) < 1:
                raise CrisptreeError(f"--{name} must be at least 1, not {getattr(self, name)}")
        if self.starts is not None and self.starts > MOST_STARTS:
            raise CrisptreeError(f"--starts must be at most {MOST_STARTS}, not {self.starts}")
        if not 0 <= self.seed < MOST_SEEDS:
            raise CrisptreeError(f"--seed must lie in 0 … {MOST_SEEDS - 1}, not {self.seed}")
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise CrisptreeError(f"--budget must be above 0 minutes, not {self.budget}")
        if self.budget is not None and self.steps is not None:
            raise CrisptreeError("--budget and --steps exclude each other: give one")
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise CrisptreeError(f"--learning-rate must be above 0, not {self.learning_rate}")
        if self.teacher is not None and self.start_from is not None:
            raise CrisptreeError("--teacher and --start-from exclude each other: give one")
        if self.direct and (self.teacher is not None or self.start_from is not None):
            raise CrisptreeError("--direct starts from nothing: leave out --teacher, --start-from")
        if self.paper and (self.teacher is not None or self.start_from is not None):
            raise CrisptreeError("--paper starts from nothing: leave out --teacher, --start-from")
        if self.algorithm != "ppo" and not self.paper and self.mlp is None:
            raise CrisptreeError(f"--algorithm {self.algorithm} goes with --paper or --mlp")
        if self.learns_q and self.budget is not None:
            raise CrisptreeError(f"--algorithm {self.algorithm} takes --steps, not --budget")

    @property
    def learns_q(self) -> bool:
        return self.algorithm in ("q", "online-q")

    @property
    def undecided(self) -> bool:
        """Whether nobody said how to begin."""
        told = self.direct or self.paper or self.mlp is not None
        return not told and self.teacher is None and self.start_from is None

    @property
    def route(self) -> str:
        """How the tree begins, in a word or two."""
        if self.start_from is not None:
            return "expert"
        return "direct" if self.teacher is None else f"teacher {self.teacher}"

    @property
    def shape(self) -> Literal["tree", "list"]:
        return "list" if self.rules is not None else "tree"

    @property
    def size(self) -> int:
        """Most leaves of the crisp policy (a list of n rules has n + 1)."""
        if self.rules is not None:
            return self.rules + 1
        return 16 if self.leaves is None else self.leaves

    def to_dict(self) -> dict[str, Any]:
        record = dataclasses.asdict(self)
        record["start_from"] = None if self.start_from is None else str(self.start_from)
        return record

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Settings":
        known = {field.name for field in dataclasses.fields(Settings)}
        if unknown := sorted(set(record) - known):
            raise CrisptreeError(f"config.json has unknown settings: {', '.join(unknown)}")
        start_from = record.get("start_from")
        try:
            return Settings(
                **{**record, "start_from": None if start_from is None else Path(start_from)}
            )
        except TypeError as error:
            raise CrisptreeError(f"config.json is not that of a run: {error}") from error

    def command(self) -> str:
        """The command line that asks for this."""
        words = ["crisptree train", shlex.quote(self.env)]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "env" or value == field.default:
                continue
            flag = "--" + field.name.replace("_", "-")
            words.append(flag if value is True else f"{flag} {shlex.quote(str(value))}")
        return " ".join(words)
