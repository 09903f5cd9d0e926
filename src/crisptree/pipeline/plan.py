"""From a resolved configuration to the list of stages of one candidate."""

from crisptree.crispen.prune import ladder
from crisptree.pipeline.config import Beginning, TeacherKind, TrainConfig
from crisptree.pipeline.stage import Stage
from crisptree.pipeline.stages.derive import Derive
from crisptree.pipeline.stages.direct import Direct
from crisptree.pipeline.stages.distill import Distill, DistillSmall
from crisptree.pipeline.stages.evolve import Evolve
from crisptree.pipeline.stages.expert import Expert
from crisptree.pipeline.stages.model_search import SearchModel
from crisptree.pipeline.stages.prune import Prune, Simplify
from crisptree.pipeline.stages.refine import Refine
from crisptree.pipeline.stages.rule import Rule
from crisptree.pipeline.stages.search import Search
from crisptree.pipeline.stages.teacher import Exact, External, Fallback, Teacher

LEAST_REFINED = 2_000
"""Steps of a refinement between two cuts, or there is none."""


def first_stages(beginning: Beginning, config: TrainConfig) -> list[Stage]:
    """To the first crisp tree, which is wider than what is asked for."""
    mend = Refine("refine-first", "first", weight=3.0)
    derive: list[Stage] = [Derive()] if config.derive.enabled else []
    match beginning:
        case "direct":
            is_done = config.policy.shape == "tree" and not derive
            return [Direct()] if is_done else [Direct(), *derive, Distill(), mend]
        case "expert":
            return [Expert(), mend]
        case "exact":
            is_list = config.policy.shape == "list"
            return [Exact(), *derive, Distill(), mend] if is_list else [Exact(), SearchModel()]
        case "external":
            return [External(), *derive, Distill(), mend]
        case "rule":
            return [Rule(), *derive, Distill()]
        case "mlp" | "soft" | "dqn" | "sac":
            return [*_teachers(beginning, config), *derive, Distill(), mend]


def _teachers(kind: TeacherKind, config: TrainConfig) -> list[Stage]:
    """One, and another that takes over where it has learned nothing."""
    other = config.teacher.fallback
    if other in (None, "none", kind):
        return [Teacher(f"teacher-{kind}", kind)]
    first = Teacher(f"teacher-{kind}", kind, patience=config.teacher.patience)
    return [first, Fallback(f"teacher-{other}", other)]


def last_stages(beginning: Beginning, config: TrainConfig) -> list[Stage]:
    """From the first crisp tree to the small one."""
    if beginning == "exact" and config.policy.shape == "tree":
        return []
    stages: list[Stage] = []
    sizes = _sizes(config)
    for size in sizes:
        is_last = size == sizes[-1]
        name = f"refine-{size}"
        refine = Refine(name, "last", weight=2.0) if is_last else Refine(name, "cut")
        stages += [Prune(f"prune-{size}", size, is_last), refine]
    if beginning not in ("direct", "expert"):
        stages += [DistillSmall(), Refine("refine-small", "last")]
    if beginning == "rule":  # what no gradient found, none refines: it evolves in the end
        stages = [stage for stage in stages if not isinstance(stage, Refine)]
    evolution: list[Stage] = [Evolve()] if config.evolve.generations else []
    return [*stages, Simplify(), *evolution, Search()]


def plan(beginning: Beginning, config: TrainConfig) -> list[Stage]:
    """All stages of a candidate that begins in this way."""
    return [*first_stages(beginning, config), *last_stages(beginning, config)]


def _sizes(config: TrainConfig) -> list[int]:
    """Sizes on the way to the one asked for; that one alone where steps are too few to learn
    anything in between."""
    sizes = ladder(config.width, config.policy.leaves, config.prune.step)
    if config.steps is not None and config.refine.share * config.steps < LEAST_REFINED:
        return sizes[-1:]
    return sizes


def training_shares(beginning: Beginning, config: TrainConfig) -> float:
    """Environment steps of a whole plan, in units of `config.steps`, if every cut costs."""
    if beginning == "rule":
        return 1.0
    cuts = len(_sizes(config))
    shares = (cuts - 1) * config.refine.share + config.refine.last_share if cuts else 0.0
    if beginning == "direct":
        shares += config.direct.starts
    if beginning in ("mlp", "soft", "dqn", "sac"):
        shares += config.teacher.share
    if beginning != "direct" or config.policy.shape == "list" or config.derive.enabled:
        shares += config.refine.first_share
    return shares
