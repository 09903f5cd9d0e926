"""From a resolved configuration to the stages of a candidate, in legs."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from crisptree.crispen.prune import ladder
from crisptree.pipeline.config import Beginning, TeacherKind, TrainConfig
from crisptree.pipeline.stage import Stage
from crisptree.pipeline.stages.derive import Derive
from crisptree.pipeline.stages.direct import Direct
from crisptree.pipeline.stages.distill import Distill
from crisptree.pipeline.stages.evolve import Evolve
from crisptree.pipeline.stages.expert import Expert
from crisptree.pipeline.stages.explore import Explore, SearchLearned
from crisptree.pipeline.stages.mend import Mend
from crisptree.pipeline.stages.model_search import SearchModel
from crisptree.pipeline.stages.on_levels import OnLevels
from crisptree.pipeline.stages.prune import CutAtOnce, Prune, Simplify
from crisptree.pipeline.stages.refine import Polish, Refine
from crisptree.pipeline.stages.rule import Rule
from crisptree.pipeline.stages.search import Search
from crisptree.pipeline.stages.teacher import Exact, External, Fallback, Teacher
from crisptree.pipeline.stages.worst_case import WorstCase

BETWEEN = 0.2
"""Share of the last evolution's generations for an evolution after distilling or between two
cuts."""
SEARCHES = 2.5
"""The weight of each of two searches, if nothing evolves. After the first one, candidates go on
from the best tree."""
LEAST_SECONDS = 5.0
"""Least seconds of a leg: to compare a few trees, to score them and to hand on the best one."""
CUTTING = 0.6
"""Share of the time left, after a first cut, that all other cuts may take."""
LEAST_REFINED = 2_000
"""Least steps of a refinement; with fewer steps in all, there are fewer refinements."""


class Leg(NamedTuple):
    """Stages that a candidate runs by itself. After each leg all candidates go on from the best
    tree."""

    name: str
    stages: tuple[Stage, ...]
    size: int | None = None
    """Most leaves after a cut; None for legs without a cut."""

    @property
    def weight(self) -> float:
        return sum(stage.weight for stage in self.stages)


def first_stages(beginning: Beginning, config: TrainConfig) -> list[Stage]:
    """The stages up to the first crisp tree, which is wider than what is asked for."""
    repair: Stage = Refine()
    if config.evolve.generations and beginning == "rule":
        # Gradients do not refine what was found without them.
        repair = Evolve("evolve-first", 2.0, BETWEEN)
    derive: list[Stage] = [Derive()] if config.derive.enabled else []
    match beginning:
        case "direct":
            is_done = config.policy.shape == "tree" and not derive
            return [Direct()] if is_done else [Direct(), *derive, Distill(), repair]
        case "expert":
            return [Expert(), repair]
        case "exact":
            is_list = config.policy.shape == "list"
            return [Exact(), *derive, Distill(), repair] if is_list else [Exact(), SearchModel()]
        case "table":
            return [Explore(), SearchLearned()]
        case "external":
            return [External(), *derive, Distill(), repair]
        case "rule" if config.policy.leaf == "linear" and not derive:
            return [Rule(is_leaf=True)]
        case "rule":
            return [Rule(), *derive, Distill(), repair]
        case "mlp" | "soft" | "levels" | "dqn" | "sac":
            return [*_teachers(beginning, config), *derive, Distill(), repair]


def _teachers(beginning: TeacherKind | Literal["levels"], config: TrainConfig) -> list[Stage]:
    """A teacher, and another one that takes over if the first has learned nothing."""
    other = config.teacher.fallback
    waits = other not in (None, "none", beginning)
    kind = "mlp" if beginning == "levels" else beginning
    patience = config.teacher.patience if waits else 1.0
    first: Stage = Teacher(f"teacher-{beginning}", kind, patience=patience)
    if beginning == "levels":
        first = OnLevels.of(first)
    return [first, Fallback(f"teacher-{other}", other)] if waits else [first]


def legs(beginning: Beginning, config: TrainConfig, number: int = 0) -> list[Leg]:
    """The legs of a candidate that begins in this way: the first crisp tree, each cut on the way to
    the size asked for, and the last changes. Candidates with odd and even `number` repair cuts
    differently."""
    first = tuple(first_stages(beginning, config))
    if beginning == "table" or (beginning == "exact" and config.policy.shape == "tree"):
        return [Leg("first", first)]
    sizes, repair = _sizes(config), _repair(beginning, config, number)
    cuts = [_cut(repair, size, config, is_last=size == sizes[-1]) for size in sizes]
    judge = WorstCase() if config.worst_case.enabled else Mend()
    is_real = bool(config.evolve.generations)  # choices do not evolve
    is_on_levels = _is_on_levels(beginning, config)
    if is_real and not is_on_levels:
        is_linear = config.policy.leaf == "linear"
        polish = _polish("last", config, times=2) if is_linear else ()
        evolve = Evolve(weight=2.0) if is_linear and beginning != "rule" else Evolve()
        search = Leg("search", (*polish, Simplify(), evolve, Search("search-first", SEARCHES)))
        last = Leg("last", (Search(weight=SEARCHES), judge))
        return [Leg("first", (*first, CutAtOnce())), *cuts, search, last]
    wide = Leg("first", (*first, CutAtOnce(), *_polish("wide", config)))
    search = Leg("search", (Search("search-first", SEARCHES), *_polish("search", config)))
    learned = [wide, *cuts, search]
    # In the end leaves take any value, not only those of levels.
    climb = (Evolve(),) if is_real else ()
    last = Leg("last", (Simplify(), *climb, Search(weight=SEARCHES), judge))
    return [*(map(_on_levels, learned) if is_on_levels else learned), last]


def _is_on_levels(beginning: Beginning, config: TrainConfig) -> bool:
    """Whether real actions are learned as choices among levels."""
    is_real = bool(config.evolve.generations)
    chooses = beginning == "levels" or (beginning == "direct" and is_real)
    return config.policy.leaf == "constant" and chooses


def _repair(beginning: Beginning, config: TrainConfig, number: int) -> Literal["refine", "evolve"]:
    """How a candidate repairs cuts: by gradient, or by returns of whole episodes. Of candidates
    whose tree no gradient found, or whose leaves are constant, every other one does so by
    returns."""
    if not config.evolve.generations or _is_on_levels(beginning, config):
        return "refine"
    is_odd, is_linear = bool(number % 2), config.policy.leaf == "linear"
    if beginning == "rule":
        return "refine" if is_odd and not is_linear else "evolve"
    return "evolve" if is_odd and not is_linear else "refine"


def _on_levels(leg: Leg) -> Leg:
    """The leg with choices among levels. The last cut is not, since its rivals hold any values, nor
    is the teacher that takes over from one that chooses among levels."""

    def is_not(stage: Stage) -> bool:
        is_last_cut = isinstance(stage, Prune) and stage.is_last
        return is_last_cut or isinstance(stage, (OnLevels, Fallback))

    stages = (stage if is_not(stage) else OnLevels.of(stage) for stage in leg.stages)
    return leg._replace(stages=tuple(stages))


def _cut(
    repair: Literal["refine", "evolve"], size: int, config: TrainConfig, *, is_last: bool
) -> Leg:
    """A cut, and the stages that repair it: by gradient, or by the returns of whole episodes."""
    prune = Prune(f"prune-{size}", size, is_last)
    if repair == "evolve":
        weight = 2.0 if is_last else 1.2
        stages: tuple[Stage, ...] = (Evolve(f"evolve-{size}", weight, share=BETWEEN),)
    else:
        stages = _polish(str(size), config, times=2 if is_last else 1)
    return Leg(f"cut-{size}", (prune, *stages), size)


def _polish(what: str, config: TrainConfig, times: int = 1) -> tuple[Stage, ...]:
    """A number of refinements, one after the other; for linear leaves, which stay as they are when
    they are softened, a single one as long as these."""
    count = times * _cycles(config)
    if config.policy.leaf == "linear":
        return (Polish(f"refine-{what}", 0.5 * count, count),)
    return tuple(Polish(f"refine-{what}-{i}") for i in range(1, count + 1))


def _cycles(config: TrainConfig) -> int:
    """How many refinements follow a cut; fewer if there are few steps."""
    cycles, steps = config.refine.cycles, config.steps
    if steps is None:
        return cycles
    return max(1, min(cycles, int(cycles * config.refine.share * steps / LEAST_REFINED)))


def next_leg(
    every: Sequence[Leg], number: int, leaves: int, seconds: float, took: float = 0.0
) -> int:
    """The number of the next leg for a tree of so many leaves, from `number` on; `len(every)` if
    there is none. The leg before it `took` so many seconds.

    A cut to more leaves than the tree has is skipped, unless the tree evolves after it. If a cut
    took so long that there is no time for all others, some of these are left out: a few equal steps
    cost less than a leap at the end. If `seconds` are too few for all legs, only the last cut is
    made.
    """
    if number and every[number - 1].size is not None:
        number = _next_cut(every, number, leaves, CUTTING * seconds, took)
    evolves = any(isinstance(stage, Evolve) for leg in every for stage in leg.stages)
    last_cut = max((i for i, leg in enumerate(every) if leg.size is not None), default=None)
    while number < len(every):
        size, is_late = every[number].size, seconds < LEAST_SECONDS * (len(every) - number)
        is_needless = size is not None and leaves <= size and (is_late or not evolves)
        if not is_needless and (number == last_cut or not is_late):
            break
        number += 1
    return number


def _next_cut(every: Sequence[Leg], number: int, leaves: int, seconds: float, took: float) -> int:
    """The number of the leg to go on with, for as many equal steps as there is time for."""
    sizes = [(i, leg.size) for i, leg in enumerate(every) if i >= number and leg.size is not None]
    cuts = [i for i, size in sizes if size < leaves]
    if not took or seconds >= took * len(cuts):
        return number
    fitting = max(1, int(seconds / took))
    return cuts[max(1, round(len(cuts) / fitting)) - 1] if cuts else number


def plan(beginning: Beginning, config: TrainConfig) -> list[Stage]:
    """The stages of all legs."""
    return [stage for leg in legs(beginning, config) for stage in leg.stages]


def _sizes(config: TrainConfig) -> list[int]:
    """The sizes of the cuts; only the last one if steps are too few to learn anything in
    between."""
    sizes = ladder(config.width, config.policy.leaves, config.prune.step)
    refined = config.refine.cycles * config.refine.share
    if config.steps is not None and refined * config.steps < LEAST_REFINED:
        return sizes[-1:]
    return sizes


def training_shares(beginning: Beginning, config: TrainConfig) -> float:
    """Environment steps of a whole plan, as a multiple of `config.steps`."""
    if beginning in ("rule", "table"):
        return 1.0
    # Besides those after each cut: before the cuts, again after the last one, and after the search.
    shares = (len(_sizes(config)) + 3) * _cycles(config) * config.refine.share
    if beginning == "direct":
        shares += config.direct.starts
    if beginning in ("mlp", "soft", "levels", "dqn", "sac"):
        shares += config.teacher.share
    is_distilled = beginning != "direct" or config.policy.shape == "list" or config.derive.enabled
    if is_distilled:
        shares += config.refine.first_share
    return shares
