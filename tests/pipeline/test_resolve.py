from dataclasses import replace

import gymnasium as gym
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.task import Task, task_of
from crisptree.learn.config import PPOConfig
from crisptree.pipeline.config import (
    Beginning,
    CandidateConfig,
    EvolveConfig,
    PolicyConfig,
    SelectionConfig,
    TeacherConfig,
    TrainConfig,
)
from crisptree.pipeline.plan import legs, plan
from crisptree.pipeline.resolve import (
    DEFAULT_BUDGET,
    LEAST_SCALE,
    MOST_STEPS,
    SMALLEST_MINIBATCH,
    for_episodes_of,
    measure,
    resolve,
)
from crisptree.pipeline.timing import Measurement

FAST, SLOW = Measurement(1e6, 200.0), Measurement(30.0, 40.0)


@pytest.fixture(scope="module")
def cartpole():
    return task_of("CartPole-v1")


def test_nothing_is_left_open(cartpole):
    config = resolve(TrainConfig(), cartpole, FAST)
    assert config.budget == DEFAULT_BUDGET
    assert None not in (
        config.steps,
        config.policy.size,
        config.direct.width,
        config.selection.scale,
        config.search.sweeps,
        config.ppo.gamma,
        config.candidates.count,
        config.candidates.tries,
    )
    assert config.candidates.beginnings == ("direct", "mlp")
    assert resolve(config, cartpole, SLOW) == config  # what is set stays


def test_steps_follow_from_speed_and_budget(cartpole):
    two = CandidateConfig(workers=2)  # on a machine of one core as well
    fast = resolve(TrainConfig(candidates=two), cartpole, FAST)
    slow = resolve(TrainConfig(budget=2.0), cartpole, SLOW)
    assert fast.steps == MOST_STEPS
    assert slow.steps is not None and slow.steps < 30 * 120
    assert slow.selection.scale == 0.02


def test_few_steps_make_small_batches(cartpole):
    slow = resolve(TrainConfig(steps=20_000), cartpole, SLOW)
    assert slow.ppo.steps_per_update < 1_000
    assert slow.ppo_for("mlp").n_minibatches <= slow.ppo.steps_per_update // SMALLEST_MINIBATCH
    assert resolve(TrainConfig(), cartpole, FAST).ppo == PPOConfig(gamma=0.99)


def test_later_choices_have_fewer_episodes_where_these_are_longer_than_expected():
    """Random play falls after few steps; a tree that has learned stays up for a thousand."""
    task = task_of("LunarLander-v3")
    falls = Measurement(20_000.0, 20.0)
    config = resolve(TrainConfig(), task, falls)
    expected, scale = config.selection.episode_length, config.selection.scale
    assert expected is not None and scale is not None
    assert expected == pytest.approx((20 * 1000) ** 0.5, abs=0.1)
    assert for_episodes_of(config, 1.9 * expected) == config
    longer = for_episodes_of(config, 1000.0)
    assert longer.selection.scale == pytest.approx(scale * expected / 1000, rel=0.05)
    assert replace(longer.selection, scale=scale) == config.selection
    assert for_episodes_of(config, 1e9).selection.scale == LEAST_SCALE


@pytest.mark.parametrize(
    ("env", "asked"),
    [
        ("CartPole-v1", SelectionConfig()),  # compiled episodes cost next to nothing
        ("LunarLander-v3", SelectionConfig(scale=0.5)),
        ("LunarLander-v3", SelectionConfig(episode_length=0.0)),
    ],
    ids=["compiled", "scale", "never"],
)
def test_choices_keep_their_episodes(env, asked):
    config = resolve(TrainConfig(selection=asked), task_of(env), Measurement(1e4, 20.0))
    assert config.selection.episode_length == 0
    assert for_episodes_of(config, 1000.0) == config


def test_an_environment_that_carries_its_model_is_solved():
    config = resolve(TrainConfig(), task_of("FrozenLake-v1"), FAST)
    assert config.candidates.beginnings == ("exact",)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (TrainConfig(policy=PolicyConfig(leaf="linear")), "linear leaves are for real actions"),
        (TrainConfig(candidates=CandidateConfig(("exact",))), "carries no transition table"),
        (TrainConfig(candidates=CandidateConfig(("sac",))), "SAC needs Box actions"),
        (TrainConfig(teacher=TeacherConfig(fallback="sac")), "SAC needs Box actions"),
        (TrainConfig(candidates=CandidateConfig(("rule",))), "rule needs Box actions"),
        (TrainConfig(evolve=EvolveConfig(generations=3)), "only real actions evolve"),
    ],
    ids=["linear", "exact", "sac", "fallback", "rule", "evolve"],
)
def test_what_the_environment_does_not_allow_is_refused(cartpole, config, says):
    with pytest.raises(CrisptreeError, match=says):
        resolve(config, cartpole, FAST)


def test_real_actions_have_their_own_limits():
    task = task_of("Pendulum-v1")
    with pytest.raises(CrisptreeError, match="has 3 features"):
        resolve(TrainConfig(policy=PolicyConfig(leaf="linear", gains=4)), task, FAST)
    with pytest.raises(CrisptreeError, match="Discrete actions"):
        resolve(TrainConfig(candidates=CandidateConfig(("dqn",))), task, FAST)


def test_only_trees_with_real_actions_evolve(cartpole):
    real = resolve(TrainConfig(), task_of("Pendulum-v1"), FAST)
    last = [stage.name for stage in plan("mlp", real)][-5:]
    assert last == ["simplify", "evolve", "search-first", "search", "mend"]
    choices = resolve(TrainConfig(), cartpole, FAST)
    assert "evolve" not in [stage.name for stage in plan("mlp", choices)]


def test_real_actions_begin_in_two_ways():
    config = resolve(TrainConfig(), task_of("Pendulum-v1"), FAST)
    assert config.candidates.beginnings == ("levels", "rule")
    assert config.teacher.fallback == "sac"


class Ticking(gym.Env):
    """Episodes of seven steps."""

    observation_space = gym.spaces.Box(-1, 1, (2,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.time = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.time += 1
        return self.observation_space.sample(), 1.0, self.time == 7, False, {}


def test_episodes_are_measured():
    measured = measure(task_of(Ticking), 0)
    assert measured.episode_length == pytest.approx(7, rel=0.3)
    assert measured.steps_per_second > 100


def test_generations_take_as_many_steps_as_the_direct_training():
    task = task_of("Pendulum-v1")
    config = resolve(TrainConfig(steps=1_000_000), task, FAST)
    assert config.selection.scale == 0.4
    assert config.rule.generations == 1_000_000 // (16 * 200)
    assert config.evolve.generations == 1_000_000 // (16 * 3 * 200)
    assert resolve(TrainConfig(steps=1_000), task, FAST).rule.generations == 20
    assert resolve(TrainConfig(budget=1.0), task, FAST).rule.generations == 1_000  # time ends them


def test_real_actions_are_learned_for_half_an_episode(cartpole):
    pendulum = task_of("Pendulum-v1")

    def gamma(task: Task, length: float, asked: float | None = None) -> float | None:
        config = TrainConfig(steps=1_000, ppo=PPOConfig(gamma=asked))
        return resolve(config, task, replace(FAST, episode_length=length)).ppo.gamma

    assert pendulum.max_steps == 200
    lengths = [gamma(pendulum, length) for length in (50.0, 200.0, 600.0, 6_000.0)]
    assert lengths == [0.99, 0.99, 0.994, 0.995]
    assert gamma(cartpole, 500.0) == 0.99
    assert gamma(pendulum, 6_000.0, 0.99) == 0.99
    resolved = resolve(TrainConfig(steps=1_000), pendulum, FAST)
    assert resolved.dqn.gamma == resolved.sac.gamma == 0.99


def test_cuts_are_mended_in_two_ways():
    """By a gradient and by returns, in turn; what no gradient found evolves first."""
    config = resolve(TrainConfig(steps=1_000_000), task_of("Pendulum-v1"), FAST)

    def cuts(beginning: Beginning, number: int) -> list[list[str]]:
        every = [leg for leg in legs(beginning, config, number) if leg.size is not None]
        return [[stage.name.split("-")[0] for stage in leg.stages] for leg in every]

    for kinds in [*cuts("rule", 1), *cuts("mlp", 0)]:
        assert kinds[0] == "prune" and set(kinds[1:]) == {"refine"}
    assert all(kinds == ["prune", "evolve"] for kinds in cuts("mlp", 1))
    linear = replace(config, policy=PolicyConfig(leaf="linear"))
    assert [stage.name for stage in plan("mlp", linear)][2:4] == ["distill", "refine-first"]
    assert [stage.name for stage in plan("rule", linear)][:2] == ["teacher-rule", "cut-at-once"]
    names = [stage.name for stage in plan("rule", config)]
    assert names[:3] == ["teacher-rule", "distill", "evolve-first"]
    prunes = [name for name in names if name.startswith("prune")]
    after = [names[names.index(prune) + 1] for prune in prunes]
    assert after == [prune.replace("prune", "evolve") for prune in prunes] and prunes
    assert len(set(names)) == len(names) and not any("refine" in name for name in names)


def test_episodes_in_jax_are_measured():
    measured = measure(task_of("CartPole-v1"), 0)
    assert measured.episode_length == pytest.approx(22, rel=0.1)
    assert measured.steps_per_second > 1000
    assert measured.repeats == 0


def test_few_steps_are_followed_by_few_tries(cartpole):
    """What comes after learning is in proportion to it: long episodes are played fewer times."""
    few = resolve(TrainConfig(steps=1_000), cartpole, replace(FAST, episode_length=500.0))
    more = resolve(TrainConfig(steps=20_000), cartpole, FAST)
    assert few.selection.scale is not None and more.selection.scale is not None
    assert few.selection.scale < 0.005 < more.selection.scale
    assert (few.search.sweeps, few.prune.races, few.prune.ways) == (2, 2, 2)
    assert more.search.sweeps is not None and 2 < more.search.sweeps < 24
    assert resolve(TrainConfig(steps=5_000_000), cartpole, FAST).search.sweeps == 24
    rounds = [each.worst_case.rounds for each in (few, more, TrainConfig())]
    assert rounds == sorted(rounds) and rounds[1] < rounds[2]
    mine = replace(TrainConfig().search, sweeps=9)
    assert resolve(TrainConfig(steps=1_000, search=mine), cartpole, FAST).search.sweeps == 9
    timed = resolve(TrainConfig(budget=1.0), cartpole, SLOW)
    assert timed.selection.scale == 0.02 and timed.search.sweeps == 1_000  # the time ends it
