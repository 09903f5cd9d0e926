import time

import gymnasium
import numpy as np
import pytest
from helpers import Countdown

from crisptree.crisp import CrispTree
from crisptree.envs.episodes import GymnasiumEpisodes
from crisptree.envs.play import Play
from crisptree.envs.policy import FunctionPolicy, random_policy
from crisptree.envs.rollout import rollout
from crisptree.envs.task import task_of

TASK = task_of("CartPole-v1")
CLUMSY = CrispTree.from_nested(
    ("pole angle", 0.01, "push right", ("pole angular velocity", 0.3, "push right", "push left")),
    TASK.feature_names,
    TASK.action_names,
)
SEEDS = [3, 1, 4, 15, 92, 65, 35, 89]


def plain_return(policy: CrispTree, env_id: str, seed: int) -> float:
    """One episode as anyone would write it."""
    env = gymnasium.make(env_id)
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        action, _ = policy.predict(observation)
        observation, reward, terminated, truncated, _ = env.step(int(action))
        total += float(reward)
        over = terminated or truncated
    env.close()
    return total


@pytest.fixture(scope="module")
def plain() -> list[float]:
    returns = [plain_return(CLUMSY, "CartPole-v1", seed) for seed in SEEDS]
    assert len(set(returns)) > 4  # seeds matter
    return returns


def returns(tree: CrispTree, task, seeds, **options) -> list[float]:
    return rollout([tree], task, seeds, **options).returns[0].tolist()


@pytest.mark.parametrize("side_by_side", [1, 3, 8])
def test_returns_are_those_of_a_plain_loop(plain, side_by_side):
    """However many episodes run at once."""
    assert returns(CLUMSY, TASK, SEEDS) == plain
    batch = GymnasiumEpisodes(TASK, side_by_side)
    assert Play(batch, [CLUMSY], SEEDS, 500).run().returns[0].tolist() == plain
    batch.close()


def test_a_return_depends_on_its_seed_alone(plain):
    order = [5, 2, 7, 0, 1, 6, 4, 3, 5, 5]
    assert returns(CLUMSY, TASK, [SEEDS[i] for i in order]) == [plain[i] for i in order]
    assert returns(CLUMSY, TASK, SEEDS[4:5]) == plain[4:5]


def test_every_finished_episode_is_reported(plain):
    finished: list[int] = []
    rollout([CLUMSY], TASK, SEEDS, on_episode=finished.append)
    assert finished == sorted({int((np.array(plain) <= length).sum()) for length in plain})
    assert finished[-1] == len(SEEDS)


def test_lunar_lander_is_the_same_alone_and_side_by_side():
    """Its physics draws random numbers at every step, from the episode's own seed."""
    task = task_of("LunarLander-v3")
    policy = CrispTree.from_nested(
        ("vertical velocity", -0.3, "do nothing", "fire main engine"),
        task.feature_names,
        task.action_names,
    )
    alone = [plain_return(policy, "LunarLander-v3", seed) for seed in (7, 8, 9)]
    assert returns(policy, task, [7, 8, 9]) == alone


def test_actions_are_counted_from_the_first_one_and_observations_are_flat():
    policy = CrispTree.from_nested(("b", 2.5, "up", "down"), ("a", "b"), ("down", "stay", "up"))
    # the first observation is 0, then 4, 3, 2, 1 are left: down, up, up, down, down
    task = task_of(Countdown)
    assert returns(policy, task, [0, 1]) == [-1, -1]
    assert returns(policy, task, [0, 1], fast=True) == [-1, -1]


def test_random_actions():
    """Five of -1, 0 and 1 a step: 0 on average, with a standard error of 0.23 over 64 episodes."""
    task = task_of(Countdown)
    one, same, other = (
        rollout([random_policy(task, seed)], task, range(64)).returns.mean() for seed in (0, 0, 1)
    )
    assert abs(one) < 0.8
    assert one == same != other


@pytest.mark.parametrize("env_id", ["CartPole-v1", "CartPole-v0"])
def test_fast_episodes_are_as_long_as_the_real_ones_and_reproducible(env_id):
    """Through JAX or envpool: other episodes, the same distribution."""
    task = task_of(env_id)
    quick = np.array(returns(CLUMSY, task, range(60), fast=True))
    assert quick.tolist() == returns(CLUMSY, task, range(60), fast=True)
    real = np.array(returns(CLUMSY, task, range(60)))
    error = np.sqrt((quick.var() + real.var()) / 60)
    assert abs(quick.mean() - real.mean()) <= 3 * error


def test_a_team_earns_the_same_in_one_compiled_step():
    """Our own simulators have the same episodes in gymnasium, side by side and compiled whole."""
    task = task_of("crisptree/Wildfire-v0")
    tree = CrispTree.from_nested((0, 0.0, 0, (3, 1.0, 2, 3)), task.feature_names, task.action_names)
    together = returns(tree, task, range(5, 9))
    batch = GymnasiumEpisodes(task, 2)
    assert Play(batch, [tree], range(5, 9), 200).run().returns[0].tolist() == together
    batch.close()
    assert returns(tree, task, range(5, 9), fast=True) == pytest.approx(together, rel=1e-6)
    assert len(set(together)) == 4


def test_several_policies_meet_the_same_episodes(plain):
    other = CrispTree.from_nested(("pole angle", 0.0, 1, 0), TASK.feature_names, TASK.action_names)
    together = rollout([CLUMSY, other], TASK, SEEDS).returns
    assert together[0].tolist() == plain
    assert together[1].tolist() == returns(other, TASK, SEEDS)
    mixed = rollout([FunctionPolicy(lambda x: other.predict(x)[0]), CLUMSY], TASK, SEEDS).returns
    np.testing.assert_array_equal(mixed, together[::-1])


def test_what_was_recorded_can_be_played_again():
    seen = rollout([CLUMSY, CLUMSY], TASK, SEEDS[:3], record=True)
    assert seen.observations is not None
    assert seen.actions is not None and seen.rewards is not None
    assert seen.policy is not None and seen.episode is not None and seen.time is not None
    assert seen.final_observations is not None
    assert seen.observations.shape == (seen.lengths.sum(), 4)
    key = np.stack([seen.policy, seen.episode, seen.time], 1)
    assert key.tolist() == sorted(key.tolist())
    mine = (seen.policy == 1) & (seen.episode == 2)
    env = gymnasium.make("CartPole-v1")
    observation, _ = env.reset(seed=SEEDS[2])
    for row, action in zip(seen.observations[mine], seen.actions[mine], strict=True):
        np.testing.assert_array_equal(row, observation)
        observation = env.step(int(action))[0]
    np.testing.assert_array_equal(seen.final_observations[1, 2, 0], observation)
    assert seen.rewards.sum() == seen.returns.sum()
    env.close()


def test_agents_that_are_out_have_no_rows():
    task = task_of("crisptree/Zerglings-v0")
    seen = rollout([random_policy(task, 0)], task, range(4), record=True)
    assert seen.episode is not None and seen.agent is not None
    counts = np.bincount(seen.episode * 3 + seen.agent, minlength=12)
    assert counts.max() == seen.lengths.max()
    assert counts.min() < seen.lengths.max()  # somebody died
    assert counts.reshape(4, 3).max(1).tolist() == seen.lengths[0].tolist()


class Endless(Countdown):
    def step(self, action):
        observation, _, _, _, info = super().step(action)
        return observation, 1.0, False, False, info


def test_an_episode_that_never_ends_is_cut():
    task = task_of(Endless)
    policy = random_policy(task, 0)
    played = rollout([policy], task, [0, 1], max_steps=7)
    assert played.lengths.tolist() == [[7, 7]]
    assert played.cut == 2
    assert not played.terminated.any()
    assert rollout([policy], task, [0]).lengths.tolist() == [[10_000]]
    assert rollout([CLUMSY], TASK, SEEDS[:2], max_steps=5, fast=True).cut == 2


def test_the_environment_s_own_limit_is_no_cut():
    task = task_of(lambda: gymnasium.wrappers.TimeLimit(Endless(), 6))
    played = rollout([random_policy(task, 0)], task, [0])
    assert (played.lengths.tolist(), played.cut) == ([[6]], 0)


def test_pictures():
    seen: list[tuple[int, int, tuple[int, ...]]] = []
    played = rollout(
        [CLUMSY],
        TASK,
        SEEDS[:2],
        max_steps=3,
        on_picture=lambda p, e, picture: seen.append((p, e, picture.shape)),
    )
    assert [(p, e) for p, e, _ in seen] == [(0, 0)] * 4 + [(0, 1)] * 4
    assert played.cut == 2
    assert seen[0][2][2] == 3
    seen.clear()
    task = task_of(Countdown)  # it draws nothing
    rollout([random_policy(task, 0)], task, [0], on_picture=lambda *told: seen.append(told))
    assert seen == []


def test_nothing_to_play():
    assert rollout([CLUMSY], TASK, []).returns.shape == (1, 0)
    assert rollout([], TASK, [1]).returns.shape == (0, 1)


class Slow(Countdown):
    """Steps that compute for a while; those that only wait would be made side by side."""

    def step(self, action):
        end = time.perf_counter() + 0.02
        while time.perf_counter() < end:
            pass
        return super().step(action)


def test_what_is_not_over_at_the_deadline_is_cut():
    task = task_of(Slow)
    policy = random_policy(task, 0)
    began = time.monotonic()
    played = rollout([policy], task, range(200), record=True, deadline=began + 0.3)
    assert played.cut == 200
    assert played.lengths.max() >= 1
    assert played.lengths[0, -1] == 0
    assert played.final_observations is not None
    assert played.final_observations.shape == (1, 200, 1, 2)
    late = rollout([policy], task, range(3), record=True, deadline=began)
    assert (late.cut, late.lengths.tolist()) == (3, [[1, 1, 1]])  # a step is made in any case
