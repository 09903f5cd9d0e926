"""One configuration for a training: the same in Python, on the command line, in a file and on disk.

`TrainConfig` is nested and frozen. Each field is documented once, below its name; the command line
makes `--ppo.gamma 0.97` of it, and `config.json` in a run directory holds the whole, resolved, with
its hash. A field that is `None` is left open: `pipeline.resolve` fills it in from what is measured.
"""

import math
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal

from crisptree.base.errors import CrisptreeError
from crisptree.crispen.config import (
    DeriveConfig,
    DistillConfig,
    EvolveConfig,
    PruneConfig,
    RuleConfig,
    SearchConfig,
    SelectionConfig,
    WorstCaseConfig,
)
from crisptree.learn.config import DQNConfig, PPOConfig, SACConfig

Beginning = Literal[
    "direct", "mlp", "soft", "levels", "dqn", "sac", "rule", "exact", "table", "expert", "external"
]
"""How a tree begins: from scratch; by imitating a teacher (an MLP, a soft tree, an MLP that chooses
among levels of real actions, a DQN, SAC or a linear rule trained here, exact value iteration, or a
user's policy); on a model of the environment that is learned here as a table; from an expert's
tree."""
TeacherKind = Literal["mlp", "soft", "dqn", "sac"]
"""Teachers that learn here: a network or a soft tree by PPO, a network by Q-learning or SAC."""
RACED: tuple[Beginning, ...] = (
    "direct", "mlp", "soft", "levels", "dqn", "sac", "rule", "exact", "table"
)  # fmt: skip
SIZE_NAMES = {"tree": "leaves", "list": "rules", "mlp": "mlp"}
"""The name of the size of each kind of policy."""
MOST_CANDIDATES = 63
MOST_SEEDS = 2**32
MOST_LEAVES = 4_096
"""Most leaves: what the commands that show and export policies accept."""
LARGEST = 1e15
"""Largest number in any field; whole numbers up to it are exact in float64."""


@dataclass(frozen=True)
class EnvConfig:
    """Which environment, and how it is made."""

    id: str = ""
    """A Gymnasium id, `module:Id`, `module:callable`, `gymnax:ID` or `brax:ID`."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments for making it."""
    features: str | None = None
    """`module:function` from an observation to the named numbers that the tree sees."""


@dataclass(frozen=True)
class PolicyConfig:
    """What kind of policy to train."""

    kind: Literal["tree", "list", "mlp"] = "tree"
    """A tree, a rule list, or the baseline MLP, which is not made crisp."""
    size: int | None = None
    """Most leaves of a tree (16 unless given), most rules of a list, hidden layers of an MLP."""
    leaf: Literal["constant", "linear"] = "constant"
    """Box actions: a leaf holds one action, or a linear controller of a few features."""
    gains: int = 2
    """Linear leaves: at most this many features for each dimension of the action."""

    @property
    def shape(self) -> Literal["tree", "list"]:
        return "list" if self.kind == "list" else "tree"

    @property
    def leaves(self) -> int:
        """Most leaves of the crisp policy (a list of n rules has n + 1)."""
        size = 16 if self.size is None else self.size
        return size + 1 if self.kind == "list" else size


@dataclass(frozen=True)
class CandidateConfig:
    """Candidates begin in different ways or from different seeds, and race: after each leg, all of
    them go on from the best one's tree."""

    beginnings: tuple[Beginning, ...] = ()
    """How candidates begin, in turn; by default in every way that the environment allows."""
    count: int | None = None
    """How many begin; one for each beginning, and one for each core up to four, unless given."""
    tries: int | None = None
    """How many go on from the best tree, leg by leg; one for each core up to four unless given."""
    workers: int | None = None
    """How many learn at the same time; the number of cores unless given."""
    executor: Literal["local", "ray"] = "local"
    """Where they learn: in processes of this machine, or on the Ray cluster that is running."""


@dataclass(frozen=True)
class DirectConfig:
    """The tree that learns from scratch: wide, random and soft, and sharper while it learns."""

    width: int | None = None
    """Leaves at the start; four times those asked for, twice for linear ones, unless given."""
    starts: int = 1
    """Random trees that learn side by side; the best crisp snapshot of all of them counts."""
    learning_rate: float = 3e-3
    """Step size of the comparators at the start."""
    entropy_coef: float = 0.01
    """Entropy bonus at the start."""
    steepness: tuple[float, float] = (2.0, 150.0)
    """Steepness of the routing at the start and at the end."""
    redraw_until: float = 0.6
    """Share of the training during which nodes that separate no states get a new question."""


@dataclass(frozen=True)
class TeacherConfig:
    """Teachers that are trained here."""

    share: float = 0.6
    """Their environment steps, as a share of `steps`."""
    sac_share: float = 0.12
    """SAC's environment steps, as a share of `steps`: it learns more from each step but is
    slower."""
    width: int = 64
    """Units in each of the two hidden layers of an MLP."""
    learning_rate: float = 1e-3
    """Step size of an MLP at the start."""
    n_epochs: int = 8
    """Passes of an MLP over each trajectory. A network bears more of them than a tree whose
    questions turn sharp, and needs fewer environment steps for it."""
    n_minibatches: int = 16
    """Minibatches of an MLP in each pass, as far as they divide `ppo.n_steps`."""
    longest: float = 3.0
    """A teacher whose returns still rise in the second half of its training goes on for up to this
    many times its steps, if there is time."""
    leaves: int = 32
    """Leaves of a soft tree."""
    tree_learning_rate: float = 1e-2
    """Step size of a soft tree at the start."""
    levels: int = 5
    """Values of each real action, from bound to bound, where a teacher and trees with constant
    leaves choose among them."""
    fallback: Literal["none", "dqn", "sac"] | None = None
    """The teacher that takes over from one that has learned nothing; the one with replay that the
    kind of action allows, unless given."""
    patience: float = 0.5
    """Share of its steps after which a teacher that has learned nothing gives up, if another one
    waits."""
    policy: str | None = None
    """A teacher of your own: a policy file, a Stable-Baselines3 zip or `module:callable`."""


@dataclass(frozen=True)
class TableConfig:
    """A model of the environment that is learned by trying every action in every state. The best
    tree on it is the result if it earns what the model promises; else candidates race, and the best
    tree of all is."""

    first: bool | None = None
    """Learn such a model first (unless given, if observations repeat)."""
    share: float = 0.4
    """Its share of the time, if candidates race after it."""
    trust: float = 0.03
    """How much less than the model promises episodes may earn, as a share of the promised gain over
    random play, besides two standard errors."""


@dataclass(frozen=True)
class RefineConfig:
    """A crisp tree is softened, learns on, and turns crisp again: for long after it was distilled,
    and several times in short cycles after it was cut."""

    learning_rate: float = 2e-3
    """Step size of the comparators at the start."""
    entropy_coef: float = 0.005
    """Entropy bonus at the start."""
    first_share: float = 0.5
    """Environment steps after distilling, as a share of `steps`."""
    first_steepness: tuple[float, float] = (8.0, 50.0)
    """Steepness at the start and at the end, after distilling."""
    first_logit: float = 2.5
    """How sure leaves are of their actions when a distilled tree is softened (a logit)."""
    cycles: int = 3
    """Refinements after a cut, each from the best tree so far; twice as many after the last one."""
    share: float = 0.04
    """Environment steps of each of them, as a share of `steps`."""
    steepness: tuple[float, float] = (15.0, 60.0)
    """Steepness at the start and at the end of each of them."""
    logit: float = 4.0
    """How sure leaves are of their actions at the start of each of them."""
    check: tuple[int, ...] = (64, 64, 128, 256)
    """Fresh episodes, round by round, in which a refined tree must stay ahead of the one before."""
    log_std: tuple[float, float] = (-1.6, -2.8)
    """Box actions: the greatest log standard deviation at the start and at the end, in units of
    half an action's range. A tree that can act already explores near what it does."""
    linear_learning_rate: float = 3e-4
    """Linear leaves: step size of the comparators at the start."""
    linear_steepness: float = 200.0
    """Linear leaves: steepness all the time. Lines of neighbouring leaves may differ much, and
    their mixture is a third line that the crisp tree does not have."""


@dataclass(frozen=True)
class PaperConfig:
    """The paper's own method: an oblique soft tree, discretised at the end by argmax."""

    enabled: bool = False
    """Use the paper's method (an MLP always does)."""
    algorithm: Literal["ppo", "reinforce", "q", "online-q"] = "ppo"
    """How to learn (`q`: a DQN; `online-q`: the paper's Eq. 5)."""
    learning_rate: float | None = None
    """Step size; what suits the model and the algorithm unless given."""
    feature_choice: Literal["magnitude", "signed"] = "magnitude"
    """How a node's one feature is chosen (`signed`: the paper's text to the letter)."""


@dataclass(frozen=True)
class TrainConfig:
    """The settings of one training."""

    env: EnvConfig = field(default_factory=EnvConfig, metadata={"option": False})
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    seed: int = 0
    """Seed of all randomness."""
    seeds: int = 1
    """Train this many seeds (seed, seed + 1, …) and report each."""
    steps: int | None = None
    """Environment steps of the direct training; the other stages take shares of it. What the
    budget allows, at most 5,000,000, unless given."""
    budget: float | None = None
    """Minutes that a seed may take, everything included (10 unless given, or `steps` are)."""
    episodes: int = 100
    """Episodes the crisp tree is scored on, on seeds that training never saw."""
    start_from: str | None = None
    """Start from an expert's tree: a policy file, or rules in words."""
    checkpoint_every: int = 64
    """Updates between two checkpoints of a training; all environments start afresh there, so that
    a resumed training goes on bit for bit."""
    candidates: CandidateConfig = field(default_factory=CandidateConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    dqn: DQNConfig = field(default_factory=DQNConfig)
    sac: SACConfig = field(default_factory=SACConfig)
    direct: DirectConfig = field(default_factory=DirectConfig)
    teacher: TeacherConfig = field(default_factory=TeacherConfig)
    table: TableConfig = field(default_factory=TableConfig)
    derive: DeriveConfig = field(default_factory=DeriveConfig)
    distill: DistillConfig = field(default_factory=DistillConfig)
    refine: RefineConfig = field(default_factory=RefineConfig)
    prune: PruneConfig = field(default_factory=PruneConfig)
    evolve: EvolveConfig = field(default_factory=EvolveConfig)
    rule: RuleConfig = field(default_factory=RuleConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    worst_case: WorstCaseConfig = field(default_factory=WorstCaseConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    paper: PaperConfig = field(default_factory=PaperConfig)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def is_soft(self) -> bool:
        """Whether what is trained stays soft: by the paper's method, or the baseline MLP."""
        return self.paper.enabled or self.policy.kind == "mlp"

    @property
    def width(self) -> int:
        """Leaves that the tree begins with; it ends smaller."""
        asked = self.policy.leaves
        times = 4 if self.policy.leaf == "constant" else 2  # a line says more than a constant
        wide = max(4 * times, times * asked) if self.direct.width is None else self.direct.width
        return max(asked, wide)

    def ppo_for(self, stage: str) -> PPOConfig:
        """The PPO settings of a stage: those that all stages share, and its own."""
        rates: dict[str, Any]
        match stage:
            case "direct":
                own = self.direct
                rates = {"leaf_learning_rate": 3.0, "steepness": own.steepness}
            case "refine" | "polish":
                own = self.refine
                steepness = own.first_steepness if stage == "refine" else own.steepness
                if self.policy.leaf == "linear":
                    own = replace(own, learning_rate=own.linear_learning_rate)
                    steepness = own.linear_steepness, own.linear_steepness
                rates = {"leaf_learning_rate": 3.0, "steepness": steepness}
                rates["normalize_observations"] = False
                rates["log_std_start"], rates["log_std_end"] = own.log_std
            case "soft":
                rates = {"learning_rate": self.teacher.tree_learning_rate, "steepness": None}
                rates["longest"] = self.teacher.longest
                return replace(self.ppo, leaf_learning_rate=1.0, **rates)
            case "mlp":
                rates = {"learning_rate": self.teacher.learning_rate, "steepness": None}
                rates["longest"], rates["n_epochs"] = self.teacher.longest, self.teacher.n_epochs
                rates["n_minibatches"] = math.gcd(self.ppo.n_steps, self.teacher.n_minibatches)
                return replace(self.ppo, leaf_learning_rate=1.0, **rates)
            case _:
                raise ValueError(stage)
        return replace(
            self.ppo, learning_rate=own.learning_rate, entropy_coef=own.entropy_coef, **rates
        )


def turns(config: TrainConfig) -> list[Beginning]:
    """How each candidate begins: beginnings take turns."""
    beginnings, count = config.candidates.beginnings, config.candidates.count
    assert beginnings and count is not None, "the configuration is resolved before it is run"
    return [beginnings[i % len(beginnings)] for i in range(count)]


def _check(config: TrainConfig) -> None:
    """Refuse settings that contradict each other, in one line."""
    size = f"{SIZE_NAMES[config.policy.kind]} (policy.size)"
    least: dict[str, tuple[float | int | None, int]] = {
        "seeds": (config.seeds, 1),
        "episodes": (config.episodes, 1),
        "checkpoint_every": (config.checkpoint_every, 1),
        "steps": (config.steps, 1),
        "candidates.count": (config.candidates.count, 1),
        "candidates.tries": (config.candidates.tries, 1),
        "candidates.workers": (config.candidates.workers, 1),
        "direct.starts": (config.direct.starts, 1),
        "teacher.levels": (config.teacher.levels, 2),
        "teacher.n_epochs": (config.teacher.n_epochs, 1),
        "teacher.n_minibatches": (config.teacher.n_minibatches, 1),
        "policy.gains": (config.policy.gains, 1),
        "refine.cycles": (config.refine.cycles, 1),
        size: (config.policy.size, {"tree": 2, "list": 1, "mlp": 0}[config.policy.kind]),
    }
    for name, (value, low) in least.items():
        if value is not None and value < low:
            raise CrisptreeError(f"{name} must be at least {low}, not {value}")
    if (config.policy.size or 0) > MOST_LEAVES:
        raise CrisptreeError(f"{size} must be at most {MOST_LEAVES}, not {config.policy.size}")
    for name in ("count", "tries"):
        if (getattr(config.candidates, name) or 1) > MOST_CANDIDATES:
            raise CrisptreeError(f"candidates.{name} must be at most {MOST_CANDIDATES}")
    if not 0 <= config.seed < MOST_SEEDS:
        raise CrisptreeError(f"seed must lie in 0 … {MOST_SEEDS - 1}, not {config.seed}")
    if config.budget is not None and not 0 < config.budget < math.inf:
        raise CrisptreeError(f"budget must be above 0 minutes, not {config.budget}")
    scale = config.selection.scale
    if scale is not None and not 0 < scale < math.inf:
        raise CrisptreeError(f"selection.scale must be above 0, not {scale}")
    rate = config.paper.learning_rate
    if rate is not None and not rate > 0:
        raise CrisptreeError(f"paper.learning_rate must be above 0, not {rate}")
    if config.paper.algorithm != "ppo" and not config.is_soft:
        raise CrisptreeError(
            f"paper.algorithm {config.paper.algorithm} goes with the paper's way or an MLP"
        )
    if config.is_soft and (config.start_from or config.candidates.beginnings):
        raise CrisptreeError("the paper's way starts from nothing: leave out teachers and experts")
    if config.start_from is not None and config.teacher.policy is not None:
        raise CrisptreeError("a teacher and an expert's tree exclude each other: give one")
    if config.is_soft and config.worst_case.enabled:
        raise CrisptreeError("worst-case chooses crisp trees: leave out paper and mlp")
    _check_numbers(config)


def _check_numbers(config: Any, where: str = "") -> None:
    """Refuse fields that are no numbers, or too large."""
    for name, value in vars(config).items():
        if is_dataclass(value):
            _check_numbers(value, f"{where}{name}.")
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, (int, float)) and not abs(number) <= LARGEST:
                given = str(number)[:20]
                raise CrisptreeError(f"{where}{name} must be at most {LARGEST:.0e}, not {given}")


def first_free(env_id: str) -> Path:
    """The first free directory of runs/ENV, runs/ENV-2, …"""
    name = env_id.replace(":", "-").replace("/", "-") or "run"
    for number in range(1, 10_000):
        path = Path("runs") / (name if number == 1 else f"{name}-{number}")
        if not path.exists():
            return path
    raise CrisptreeError("runs/ is full of runs of this environment: give --out DIR")
