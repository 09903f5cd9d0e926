from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs import registration
from helpers import Countdown, balance, glide, push_right

from crisptree.envs.envpool_envs import EnvpoolEnvs, envpool_has
from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.task import task_of
from crisptree.envs.vector import VectorStep
from crisptree.envs.vector_env import sharing_pays, threads, vector_env

ADAPTERS = [GymnasiumEnvs, EnvpoolEnvs]


def run(adapter, env_id: str, policy, n_envs: int, n_steps: int, seed: int = 5):
    """The first observations and the steps that follow."""
    envs = adapter(task_of(env_id), n_envs)
    first = observation = envs.reset(seed)
    steps: list[VectorStep] = []
    for _ in range(n_steps):
        steps.append(envs.step(policy(observation)))
        observation = steps[-1].observation
    envs.close()
    return first, VectorStep(*map(np.stack, zip(*steps, strict=True)))


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("env_id", ["CartPole-v1", "LunarLander-v3"])
def test_a_seed_gives_the_same_bytes(adapter, env_id):
    one, other, third = (run(adapter, env_id, push_right, 3, 120, seed) for seed in (5, 5, 6))
    assert one[0].tobytes() == other[0].tobytes()
    for part, same in zip(one[1], other[1], strict=True):
        assert part.tobytes() == same.tobytes()
    assert one[0].tobytes() != third[0].tobytes()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_second_reset_starts_all_over(adapter):
    envs = adapter(task_of("CartPole-v1"), 2)
    first = envs.reset(5)
    for _ in range(15):
        envs.step(np.ones(2, np.int64))
    assert envs.reset(5).tobytes() == first.tobytes()
    assert envs.step(np.ones(2, np.int64)).valid.all()
    envs.close()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_environment_i_has_the_seed_plus_i(adapter):
    three, one = (run(adapter, "CartPole-v1", push_right, n, 30, 7 - n)[1] for n in (3, 1))
    np.testing.assert_array_equal(three.next_observation[:, 2], one.next_observation[:, 0])
    np.testing.assert_array_equal(three.terminated[:, 2], one.terminated[:, 0])


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_types_and_shapes(adapter):
    first, steps = run(adapter, "CartPole-v1", push_right, 3, 4)
    assert first.shape == (3, 4)
    assert steps.observation.shape == steps.next_observation.shape == (4, 3, 4)
    dtypes = {name: part.dtype for name, part in steps._asdict().items()}
    assert dtypes == {
        "observation": np.float32,
        "next_observation": np.float32,
        "reward": np.float32,
        "terminated": bool,
        "truncated": bool,
        "valid": bool,
    }


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_nothing_is_invented_between_two_episodes(adapter):
    """CartPole's position after a step is the position and velocity before it, wherever a step is
    valid; across a reset that would not hold."""
    first, steps = run(adapter, "CartPole-v1", push_right, 4, 60)
    before = np.concatenate([first[None], steps.observation[:-1]])
    moved = before[..., 0] + 0.02 * before[..., 1]
    holds = np.abs(steps.next_observation[..., 0] - moved) < 1e-5
    assert holds[steps.valid].all()
    assert (steps.reward[steps.valid] == 1).all()

    over = steps.terminated | steps.truncated
    assert over.sum() >= 16
    last = np.abs(steps.next_observation[over])
    assert (
        (last[:, 0] > 2.4) | (last[:, 2] > 0.2094)
    ).all()  # the pole has fallen: seen to the end
    # a fresh episode starts near zero, one step after the last one at the latest
    assert (steps.valid | np.roll(over, 1, 0)).all()
    started = np.roll(over, 1, 0)[1:] & steps.valid[1:] | ~steps.valid[1:]
    fresh = np.where(steps.valid[1:, :, None], before[1:], steps.observation[1:])[started]
    assert (np.abs(fresh) <= 0.05).all()


def test_envpool_s_reset_step_is_masked():
    _, steps = run(EnvpoolEnvs, "CartPole-v1", push_right, 4, 60)
    over = steps.terminated | steps.truncated
    np.testing.assert_array_equal(~steps.valid[1:], over[:-1])
    assert (~steps.valid).sum() > 10
    assert not over[~steps.valid].any()
    assert (steps.reward[~steps.valid] == 0).all()


def test_gymnasium_has_no_step_that_only_resets():
    _, steps = run(GymnasiumEnvs, "CartPole-v1", push_right, 2, 30)
    assert steps.valid.all()
    over = steps.terminated
    assert (steps.observation != steps.next_observation)[over].any(-1).all()
    assert (steps.observation == steps.next_observation)[~over].all()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_clock_truncates_and_does_not_terminate(adapter):
    _, steps = run(adapter, "CartPole-v1", balance, 2, 500)
    assert steps.truncated.sum(0).tolist() == [1, 1]
    assert steps.truncated[499].all()
    assert not steps.terminated.any()


def test_the_steps_are_gymnasium_s_own():
    """The adapter against a plain loop: the first seeds are given, later resets go on from them."""
    first, steps = run(GymnasiumEnvs, "CartPole-v1", push_right, 2, 40, seed=11)
    for i in range(2):
        env = gymnasium.make("CartPole-v1")
        observation, _ = env.reset(seed=11 + i)
        np.testing.assert_array_equal(first[i], observation)
        for t in range(40):
            observation, reward, terminated, truncated, _ = env.step(1)
            np.testing.assert_array_equal(steps.next_observation[t, i], observation)
            assert (steps.reward[t, i], steps.terminated[t, i]) == (reward, terminated)
            if terminated or truncated:
                observation, _ = env.reset()
            np.testing.assert_array_equal(steps.observation[t, i], observation)
        env.close()


def returns_of(adapter, env_id: str, policy, n_episodes: int, limit: int) -> np.ndarray:
    _, steps = run(adapter, env_id, policy, n_episodes, limit)
    over = np.cumsum(steps.terminated | steps.truncated, 0)
    assert over[-1].all()
    first_episode = np.roll(over, 1, 0) == 0
    first_episode[0] = True
    return (steps.reward * first_episode).sum(0)


def agree(one: np.ndarray, other: np.ndarray, errors: float) -> None:
    """Means and spreads of two samples, within so many standard errors."""
    n = len(one)
    gap = abs(one.mean() - other.mean())
    assert gap < errors * np.sqrt((one.var() + other.var()) / n)
    assert 0.5 < one.std() / other.std() < 2


def test_envpool_s_lunar_lander_is_gymnasium_s_in_distribution():
    one, other = (returns_of(a, "LunarLander-v3", glide, 24, 600) for a in ADAPTERS)
    agree(one, other, errors=3)


def along(observation: np.ndarray) -> np.ndarray:
    """Pushes MountainCar the way it moves."""
    return np.where(observation[:, 1] > 0, 2, 0)


def swing(observation: np.ndarray) -> np.ndarray:
    """Pumps Acrobot with the angular velocity of its first joint."""
    return np.where(observation[:, 4] > 0, 0, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "policy", "limit"),
    [
        ("LunarLander-v3", glide, 1000),
        ("MountainCar-v0", along, 200),
        ("Acrobot-v1", swing, 500),
        ("CartPole-v1", push_right, 20),
    ],
)
def test_envpool_is_gymnasium_in_distribution(env_id, policy, limit):
    one, other = (returns_of(a, env_id, policy, 200, limit) for a in ADAPTERS)
    agree(one, other, errors=3)


def test_the_fastest_backend_is_chosen():
    assert isinstance(vector_env(task_of("LunarLander-v3"), 1), EnvpoolEnvs)
    assert isinstance(vector_env(task_of("LunarLander-v3"), 1, n_threads=2), EnvpoolEnvs)
    assert isinstance(vector_env(task_of(Countdown), 1), GymnasiumEnvs)


def test_arguments_and_features_are_not_envpool_s():
    assert not envpool_has(task_of("LunarLander-v3", {"enable_wind": True}))
    assert not envpool_has(task_of("LunarLander-v3", features=lambda at: at[:2]))


def test_an_id_of_another_s_is_not_envpool_s(monkeypatch):
    """Somebody's own MountainCar-v0, whatever envpool knows under that name."""
    assert envpool_has(task_of("MountainCar-v0"))
    registry = {id: spec for id, spec in gymnasium.registry.items() if id != "MountainCar-v0"}
    monkeypatch.setattr(registration, "registry", registry)
    monkeypatch.setattr(gymnasium, "registry", registry)
    made: Any = lambda: gymnasium.make("CartPole-v1").unwrapped
    gymnasium.register("MountainCar-v0", entry_point=made)
    task = task_of("MountainCar-v0")
    assert not envpool_has(task)
    envs = vector_env(task, 2)
    assert envs.reset(0).shape == (2, 4)
    envs.close()


def test_envpool_steps_some_while_the_others_stand_still():
    """Interleaved as one likes, an environment lives as if it were alone."""
    task = task_of("CartPole-v1")
    alone = EnvpoolEnvs(task, 1)
    seen = [alone.reset([8])[0]]
    seen += [alone.step_some(np.array([i % 2]), np.array([0]))[0][0] for i in range(6)]
    alone.close()
    pool = EnvpoolEnvs(task, 3)
    first = pool.reset([8, 9, 8])
    assert first[0].tobytes() == first[2].tobytes() == seen[0].tobytes() != first[1].tobytes()
    for i in range(6):
        observation, reward, ended, cut = pool.step_some(np.array([i % 2, 1]), np.array([2, 1]))
        assert observation[0].tobytes() == seen[i + 1].tobytes()
        assert reward.tolist() == [1, 1]
        assert not (ended | cut).any()
    observation, *_ = pool.step_some(np.array([0]), np.array([0]))
    assert observation[0].tobytes() == seen[1].tobytes()
    pool.close()


def test_threads_of_envpool_give_the_bytes_that_one_thread_gives():
    alone = run(EnvpoolEnvs, "LunarLander-v3", glide, 5, 150)
    shared = run(lambda task, n: EnvpoolEnvs(task, n, 2), "LunarLander-v3", glide, 5, 150)
    for part, same in zip((alone[0], *alone[1]), (shared[0], *shared[1]), strict=True):
        assert part.tobytes() == same.tobytes()


def test_pools_in_parts_give_the_bytes_of_one_pool():
    """Both parts have a step under way at once; five environments are three and two."""
    whole = run(EnvpoolEnvs, "LunarLander-v3", glide, 5, 150)
    parts = EnvpoolEnvs(task_of("LunarLander-v3"), 5, 2).parts()
    seen = [part.reset(5 + first) for part, first in zip(parts, (0, 3), strict=True)]
    assert np.concatenate(seen).tobytes() == whole[0].tobytes()
    for t in range(150):
        for part, observation in zip(parts, seen, strict=True):
            part.send(glide(observation))
        steps = [part.receive() for part in parts]
        for together, alone in zip(zip(*steps, strict=True), whole[1], strict=True):
            assert np.concatenate(together).tobytes() == alone[t].tobytes()
        seen = [step.observation for step in steps]
    for part in parts:
        part.close()


def test_one_thread_or_one_environment_has_no_parts():
    task = task_of("LunarLander-v3")
    for pool in (EnvpoolEnvs(task, 4, 1), EnvpoolEnvs(task, 1, 2)):
        assert pool.parts() == [pool]


def test_sharing_pays_for_slow_steps_only():
    task = task_of("MountainCar-v0")
    assert sharing_pays(GymnasiumEnvs(task, 1), task, 4, 2, costs=0.0)
    assert not sharing_pays(GymnasiumEnvs(task, 1), task, 4, 2, costs=100.0)


def test_threads_are_as_many_as_allowed(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads() >= 1


def test_a_team_in_gymnasium_has_a_row_for_each_agent():
    task = task_of("crisptree/Zerglings-v0")
    envs = GymnasiumEnvs(task, 2)
    assert envs.reset(3).shape == (6, 37)
    at = envs.step(np.full(6, 4))
    assert at.observation.shape == (6, 37)
    assert at.reward.shape == at.valid.shape == (6,)
    assert at.valid.all()
    envs.close()


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "BipedalWalker-v3"])
def test_real_actions_go_through_gymnasium_and_envpool(env_id):
    task = task_of(env_id)
    for adapter in ADAPTERS:
        envs = adapter(task, 3)
        seen = envs.reset(0)
        at = envs.step(np.full((3, task.actions.n_values), 100.0))  # clipped to the bounds
        assert at.observation.shape == seen.shape == (3, task.n_features)
        envs.close()
