"""The one place where values that a configuration leaves open are filled in.

What must differ between environments follows from what is measured: how many steps a second, how
long an episode is, which spaces it has, whether it carries its own model.
"""

import math
import time
from dataclasses import replace
from typing import Any, Literal

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import cores
from crisptree.crispen.config import EvolveConfig
from crisptree.crispen.search import WIDTH
from crisptree.envs.policy import random_policy
from crisptree.envs.registry import twin_of
from crisptree.envs.rollout import Rollouts, rollout
from crisptree.envs.task import Task
from crisptree.envs.transition_table import has_transition_table
from crisptree.envs.vector_env import vector_env
from crisptree.learn.config import GAMMA, PPOConfig
from crisptree.learn.exploration import takes_a_table
from crisptree.pipeline.config import Beginning, TrainConfig, turns
from crisptree.pipeline.plan import training_shares
from crisptree.pipeline.timing import UNLIMITED_STEPS, Measurement

DEFAULT_BUDGET = 10.0
MOST_STEPS = 5_000_000
LEAST_STEPS = 512
LEARNING_SHARE = 0.45
"""Share of the time that goes to learning; the rest is compiling, races, searching and scoring."""
SELECTION_SHARE = 0.25
SELECTION_EPISODES = 60_000
"""Selection episodes of a whole candidate at a scale of 1."""
SELECTION_STEPS = 25
"""Steps of selection episodes for each step of learning at most, where nobody gave a time."""
LEAST_SCALE, LEAST_SCALE_BY_STEPS = 0.02, 0.001
"""Of selection: where a time says how much there is of everything, and where steps do."""
MUCH_LONGER = 2.0
"""Episodes that are this many times as long as expected are fewer."""
FEWEST_STARTS = 16
"""Least starts that the worst case is looked for among, where a few steps are all that was asked
for."""
USUAL_LENGTH = 50
"""Up to this episode length the scale is 1 at most."""
TRIES = 4
"""Candidates on a machine of many cores, unless given."""
LEARNER_STEPS = 60_000
"""Steps a second of a learner on one core in an environment that costs nothing."""
LEAST_GENERATIONS, MOST_GENERATIONS = 20, 400
"""Generations of the evolution of a tree with real actions."""
LONG = 1_000
"""Most generations of a linear rule, and most sweeps of a search, where the time ends them."""
SWEEPS = 24
"""Most sweeps of a search, where nobody gave a time."""
FEW, MANY, COMPILED = 8, 64, 1024
"""Environments that are timed together: few at first, many if steps are fast, most if compiled."""
FAST = 2_000
"""Faster environments than this, in steps a second, are timed many at a time."""
TIMED_SECONDS, TIMED_STEPS = 0.7, 2_000
"""Timing ends after this many seconds, or steps of each environment."""
LOOKED_AT, REPEATS = 10_000, 0.9
"""Observations that are compared, and the share of seen ones above which observations repeat."""
LOOK_AHEAD, MOST_GAMMA = 0.5, 0.995
"""Share of an episode that real actions are learned for, and the greatest discount factor."""
UPDATES = 60
"""Batches are made smaller if a training would have fewer updates than this."""
SMALLEST_STEPS, SMALLEST_ENVS = 8, 8
SMALLEST_MINIBATCH = 32
ACCELERATED_WIDTH = 1024
"""Changed trees in a sweep of the search where an accelerator plays them."""


def resolve(config: TrainConfig, task: Task, measured: Measurement) -> TrainConfig:
    """The configuration with nothing left open."""
    _check_fits(config, task)
    if config.policy.size is None:
        size = {"tree": 16, "list": 16, "mlp": 2}[config.policy.kind]
        config = replace(config, policy=replace(config.policy, size=size))
    if config.direct.width is None:
        config = replace(config, direct=replace(config.direct, width=config.width))
    if config.teacher.fallback is None:
        config = replace(config, teacher=replace(config.teacher, fallback=_fallback(task)))
    if config.table.first is None:
        first = _suits_a_table(config, task, measured)
        config = replace(config, table=replace(config.table, first=first))
    config = _with_candidates(config, task)
    if config.steps is None and config.budget is None:
        config = replace(config, budget=DEFAULT_BUDGET)
    if config.steps is None:
        config = replace(config, steps=_steps_within(config, measured))
    config = _with_smaller_batches(config, measured)
    config = _with_smaller_replays(config)
    config = _with_discounts(config, task, measured)
    if config.search.width is None:
        config = replace(config, search=replace(config.search, width=_search_width(task)))
    config = _with_selection_length(config, task, measured)
    if config.selection.scale is None:
        scale = _selection_scale(config, task, measured)
        config = replace(config, selection=replace(config.selection, scale=scale))
        config = _with_fewer_tries(config)
    if config.search.sweeps is None:
        config = replace(config, search=replace(config.search, sweeps=_sweeps(config)))
    if config.evolve.generations is None:
        generations = _generations(config, config.evolve, task, measured)
        config = replace(config, evolve=replace(config.evolve, generations=generations))
    if config.rule.generations is None:
        generations = _generations(config, config.rule, task, measured)
        if generations and config.budget is not None:
            generations = LONG
        config = replace(config, rule=replace(config.rule, generations=generations))
    return config


def _check_fits(config: TrainConfig, task: Task) -> None:
    if config.policy.leaf == "linear":
        if task.actions.kind != "box":
            raise CrisptreeError(
                f"linear leaves are for real actions; '{task.name}' has {task.actions.kind} ones"
            )
        if config.policy.gains > task.n_features:
            raise CrisptreeError(
                f"policy.gains is {config.policy.gains}; '{task.name}' has {task.n_features} "
                "features"
            )
    needs_q = (
        config.paper.algorithm in ("q", "online-q")
        or "dqn" in config.candidates.beginnings
        or config.teacher.fallback == "dqn"
    )
    if needs_q and task.actions.kind != "discrete":
        raise CrisptreeError(f"Q-learning needs Discrete actions; '{task.name}' has others")
    if config.evolve.generations and task.actions.kind != "box":
        raise CrisptreeError(
            f"only real actions evolve; '{task.name}' has {task.actions.kind} ones"
        )
    needs_sac = "sac" in config.candidates.beginnings or config.teacher.fallback == "sac"
    if needs_sac and task.actions.kind != "box":
        raise CrisptreeError(f"SAC needs Box actions; '{task.name}' has {task.actions.kind} ones")
    if "levels" in config.candidates.beginnings and task.actions.kind != "box":
        raise CrisptreeError(f"levels need Box actions; '{task.name}' has {task.actions.kind} ones")
    if "rule" in config.candidates.beginnings and task.actions.kind != "box":
        raise CrisptreeError(
            f"a linear rule needs Box actions; '{task.name}' has {task.actions.kind} ones"
        )
    if (config.table.first or "table" in config.candidates.beginnings) and not takes_a_table(task):
        raise CrisptreeError(
            f"a table needs Discrete actions of one agent; '{task.name}' has others"
        )
    if "exact" in config.candidates.beginnings and not has_transition_table(task):
        raise CrisptreeError(f"'{task.name}' carries no transition table (env.unwrapped.P)")


def _fallback(task: Task) -> Literal["none", "dqn", "sac"]:
    """The teacher with replay that the kind of action allows."""
    if task.n_agents is not None or task.actions.kind == "multi_discrete":
        return "none"
    return "sac" if task.actions.kind == "box" else "dqn"


def _suits_a_table(config: TrainConfig, task: Task, measured: Measurement) -> bool:
    """Whether to learn a model as a table: if the task suits and the user asked for nothing
    else."""
    asked = config.candidates.beginnings or config.start_from or config.teacher.policy
    is_tree = config.policy.kind == "tree" and not config.is_soft and not config.derive.enabled
    is_small = measured.repeats >= REPEATS and takes_a_table(task)
    return is_small and is_tree and not asked and not has_transition_table(task)


def _with_candidates(config: TrainConfig, task: Task) -> TrainConfig:
    if config.is_soft:
        return config
    given = config.candidates
    beginnings: tuple[Beginning, ...] = given.beginnings
    if config.start_from is not None:
        beginnings = ("expert",)
    elif config.teacher.policy is not None:
        beginnings = ("external",)
    elif not beginnings:
        beginnings = _beginnings(task)
    # An exact solution needs no second candidate.
    most = 1 if beginnings == ("exact",) else given.count or TRIES
    tries = given.tries or min(most, cores(), TRIES)
    count = given.count or max(len(beginnings), tries)
    return replace(
        config, candidates=replace(given, beginnings=beginnings, count=count, tries=tries)
    )


def _beginnings(task: Task) -> tuple[Beginning, ...]:
    """The beginnings that race by default: two, since which suits an environment is not known
    before, and one for each core of a small machine."""
    if has_transition_table(task):
        return ("exact",)
    return ("levels", "rule") if task.actions.kind == "box" else ("direct", "mlp")


def _steps_within(config: TrainConfig, measured: Measurement) -> int:
    """Steps of the direct training for which the slowest candidate keeps to the budget."""
    assert config.budget is not None
    rate = 1 / (1 / measured.steps_per_second + 1 / LEARNER_STEPS)
    if config.is_soft:
        shares, rounds = 1.0, 1
    else:
        shares = max(training_shares(each, config) for each in config.candidates.beginnings)
        # A rule is found in little time.
        count = sum(beginning != "rule" for beginning in turns(config)) or 1
        rounds = -(-count // (config.candidates.workers or cores()))
    seconds = 60 * config.budget * LEARNING_SHARE
    return int(max(LEAST_STEPS, min(MOST_STEPS, rate * seconds / shares / rounds)))


def _generations(
    config: TrainConfig, settings: EvolveConfig, task: Task, measured: Measurement
) -> int:
    """As many generations as take the steps of the direct training."""
    if task.actions.kind != "box":
        return 0
    assert config.steps is not None and config.selection.scale is not None
    episodes = math.ceil(settings.episodes * config.selection.scale)
    played = settings.population * episodes * measured.learned_length(task.max_steps)
    return max(LEAST_GENERATIONS, min(MOST_GENERATIONS, int(config.steps / played)))


def _search_width(task: Task) -> int:
    """An accelerator plays a thousand trees in the time of a few."""
    if twin_of(task) is None:
        return WIDTH
    from crisptree.envs.compiled_rollout import is_accelerated

    return ACCELERATED_WIDTH if is_accelerated() else WIDTH


def _with_smaller_batches(config: TrainConfig, measured: Measurement) -> TrainConfig:
    """The configuration with batches halved while a training would have few updates: steps and
    environments in turn, or steps first where many environments take as long as one."""
    ppo, default = config.ppo, PPOConfig()
    assert config.steps is not None
    if (ppo.n_envs, ppo.n_steps) != (default.n_envs, default.n_steps):
        return config
    n_envs, n_steps = ppo.n_envs, ppo.n_steps
    while n_envs * n_steps * UPDATES > config.steps:
        if n_steps > SMALLEST_STEPS and (n_steps >= n_envs or measured.waits):
            n_steps //= 2
        elif n_envs > SMALLEST_ENVS:
            n_envs //= 2
        else:
            break
    most = max(1, n_envs * n_steps // SMALLEST_MINIBATCH)

    def minibatches(asked: int) -> int:
        return math.gcd(n_steps, 2 ** int(math.log2(min(asked, most))))

    smaller = replace(
        ppo, n_envs=n_envs, n_steps=n_steps, n_minibatches=minibatches(ppo.n_minibatches)
    )
    teacher = replace(config.teacher, n_minibatches=minibatches(config.teacher.n_minibatches))
    return replace(config, ppo=smaller, teacher=teacher)


def _with_smaller_replays(config: TrainConfig) -> TrainConfig:
    """The same for learners with replay: gradient steps per environment step stay as they are."""
    for name in ("dqn", "sac"):
        learning, default = getattr(config, name), type(getattr(config, name))()
        if learning != default:
            continue
        assert config.steps is not None
        n_steps, gradient_steps = learning.n_steps, learning.gradient_steps
        while learning.n_envs * n_steps * UPDATES > config.steps and n_steps > SMALLEST_STEPS:
            n_steps, gradient_steps = n_steps // 2, gradient_steps // 2
        starts = min(learning.learning_starts, config.steps // 10)
        smaller = replace(
            learning, n_steps=n_steps, gradient_steps=gradient_steps, learning_starts=starts
        )
        config = replace(config, **{name: smaller})
    return config


def _with_discounts(config: TrainConfig, task: Task, measured: Measurement) -> TrainConfig:
    """PPO looks a share of an episode ahead where actions are real, but no less far than usual."""
    far = GAMMA
    if task.actions.kind == "box":
        steps = LOOK_AHEAD * measured.learned_length(task.max_steps)
        far = round(min(MOST_GAMMA, max(GAMMA, 1 - 1 / steps)), 3)
    for name, gamma in (("ppo", far), ("dqn", GAMMA), ("sac", GAMMA)):
        learning = getattr(config, name)
        if learning.gamma is None:
            config = replace(config, **{name: replace(learning, gamma=gamma)})
    return config


def _selection_scale(config: TrainConfig, task: Task, measured: Measurement) -> float:
    """The scale at which choosing takes its share of the time, rounded to two digits."""
    length = measured.learned_length(task.max_steps)
    if config.budget is None:
        # If the user gives the steps, selection episodes are in proportion to them.
        assert config.steps is not None
        affordable = SELECTION_STEPS * config.steps / length / SELECTION_EPISODES
        scale, least = min(2 * config.steps / MOST_STEPS, affordable), LEAST_SCALE_BY_STEPS
    else:
        seconds = 60 * config.budget * SELECTION_SHARE
        episodes = seconds * measured.steps_per_second / length
        scale, least = episodes / SELECTION_EPISODES, LEAST_SCALE
    # Short episodes tell little, so more of them are played.
    most = max(1.0, USUAL_LENGTH / length)
    return float(f"{min(most, max(least, scale)):.2g}")


def _with_selection_length(config: TrainConfig, task: Task, measured: Measurement) -> TrainConfig:
    """The configuration with the episode length that a measured scale is meant for. Compiled
    episodes cost next to nothing, however long they are."""
    if config.selection.episode_length is not None:
        return config
    is_measured = config.selection.scale is None and twin_of(task) is None
    length = round(measured.learned_length(task.max_steps), 1) if is_measured else 0.0
    return replace(config, selection=replace(config.selection, episode_length=length))


def for_episodes_of(config: TrainConfig, length: float) -> TrainConfig:
    """The configuration for later choices, once a tree is known whose episodes have so many steps.

    Random play may fall at once where a tree that has learned stays up to the limit: choices would
    take many times as long as was planned.
    """
    scale, expected = config.selection.scale, config.selection.episode_length
    if not scale or not expected or length <= MUCH_LONGER * expected:
        return config
    least = min(scale, LEAST_SCALE if config.budget is not None else LEAST_SCALE_BY_STEPS)
    scale = float(f"{max(least, scale * expected / length):.2g}")
    return replace(config, selection=replace(config.selection, scale=scale))


def _with_fewer_tries(config: TrainConfig) -> TrainConfig:
    """Where a few steps are all that was asked for, fewer changes are tried: no count of episodes
    goes below two."""
    scale = config.selection.scale
    assert scale is not None
    if config.budget is not None or scale >= LEAST_SCALE:
        return config

    def fewer(settings: Any, least: int, *names: str) -> Any:
        default = type(settings)()
        asked = {name: getattr(settings, name) for name in names}
        asked = {name: n for name, n in asked.items() if n == getattr(default, name)}
        counts = {name: max(least, math.ceil(n * scale / LEAST_SCALE)) for name, n in asked.items()}
        return replace(settings, **counts)

    worst_case = fewer(config.worst_case, 2, "rounds", "patience")
    return replace(
        config,
        prune=fewer(config.prune, 2, "races", "ways"),
        worst_case=fewer(worst_case, FEWEST_STARTS, "starts", "hard"),
    )


def _sweeps(config: TrainConfig) -> int:
    """As many as there is time for; where nobody gave a time, fewer if there are few steps."""
    if config.budget is not None:
        return LONG
    assert config.selection.scale is not None
    return math.ceil(SWEEPS * min(1.0, config.selection.scale / LEAST_SCALE))


def measure(task: Task, seed: int) -> Measurement:
    """The speed of the environment, the length of its episodes and whether observations repeat,
    from about a second of random play."""
    if twin_of(task) is not None:
        return _measure_compiled(task, seed)
    few = _measure(task, seed, FEW)
    is_better_with_many = few.waits or few.steps_per_second >= FAST
    return _measure(task, seed, MANY) if is_better_with_many else few


def _measure_compiled(task: Task, seed: int) -> Measurement:
    policy = random_policy(task, seed)

    def timed() -> tuple[Rollouts, float]:
        began = time.monotonic()
        until = began + TIMED_SECONDS
        seen = rollout([policy], task, range(COMPILED), fast=True, record=True, deadline=until)
        return seen, int(seen.lengths.sum()) / max(time.monotonic() - began, 1e-9)

    # Compile before timing: the first step, and the second, whose state may have another type.
    rollout([policy], task, range(COMPILED), fast=True, max_steps=3)
    _, first = timed()
    played, rate = timed()
    assert played.observations is not None
    seen = [row.tobytes() for row in played.observations[:LOOKED_AT]]
    length = _length(task, int(played.lengths.sum()), COMPILED - played.cut)
    return Measurement(max(first, rate), length, repeats=_repeats(seen))


def _measure(task: Task, seed: int, n_envs: int) -> Measurement:
    policy, envs = random_policy(task, seed), vector_env(task, n_envs)
    try:
        at = envs.reset(seed)
        steps = ended = 0
        seen: list[bytes] = []
        began = time.perf_counter()
        while steps < TIMED_STEPS * n_envs and time.perf_counter() - began < TIMED_SECONDS:
            step = envs.step(policy.act(at))
            at = step.observation
            if len(seen) < LOOKED_AT:
                seen += [row.tobytes() for row in at]
            steps += int(step.valid.sum())
            ended += int((step.terminated | step.truncated).sum())
        seconds = time.perf_counter() - began
        waits = getattr(envs, "waits", False)
    finally:
        envs.close()
    rate = steps / task.n_rows / max(seconds, 1e-9)
    return Measurement(rate, _length(task, steps, ended), waits, _repeats(seen))


def _length(task: Task, steps: int, ended: int) -> float:
    """Steps of an episode."""
    longest = float(task.max_steps or UNLIMITED_STEPS)
    return min(longest, max(1.0, steps / ended)) if ended else longest


def _repeats(seen: list[bytes]) -> float:
    """Share of the second half of the observations that were seen in the first."""
    half = len(seen) // 2
    new = len(set(seen)) - len(set(seen[:half]))
    return 1 - new / max(1, len(seen) - half)
