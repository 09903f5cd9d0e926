import gymnasium
import numpy as np
import pytest

from crisptree.envs.cartpole_rows import CartPoleRows
from crisptree.envs.functional_host import FunctionalHostEnvs
from crisptree.envs.host import EnvpoolEnvs, GymnasiumEnvs, HostStep, envpool_has, host_envs

ADAPTERS = [GymnasiumEnvs, EnvpoolEnvs]


def balance(observation: np.ndarray) -> np.ndarray:
    """Holds CartPole's pole up for good."""
    return (observation @ np.array([0.05, 0.1, 1.0, 0.3]) > 0).astype(np.int64)


def glide(observation: np.ndarray) -> np.ndarray:
    """LunarLander by four thresholds: brake a fall, then turn upright; crude, but it varies."""
    _, height, _, falling, angle, turning = observation[:, :6].T
    tilt = angle + 0.5 * turning
    brake = (falling < -0.1 - 0.4 * height) & (height > 0)
    return np.select([brake, tilt > 0.1, tilt < -0.1], [2, 3, 1], 0)


def run(adapter, env_id: str, policy, n_envs: int, n_steps: int, seed: int = 5):
    """The first observations and the steps that follow."""
    envs = adapter(env_id, n_envs)
    first = observation = envs.reset(seed)
    steps: list[HostStep] = []
    for _ in range(n_steps):
        steps.append(envs.step(policy(observation)))
        observation = steps[-1].observation
    envs.close()
    return first, HostStep(*map(np.stack, zip(*steps, strict=True)))


def push_right(observation: np.ndarray) -> np.ndarray:
    return np.ones(len(observation), np.int64)


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
    envs = adapter("CartPole-v1", 2)
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


def test_the_fastest_adapter_is_chosen():
    assert isinstance(host_envs("CartPole-v1", 1), CartPoleRows)
    assert isinstance(host_envs("crisptree/Wildfire-v0", 1), FunctionalHostEnvs)
    assert isinstance(host_envs("LunarLander-v3", 1), EnvpoolEnvs)
    assert isinstance(host_envs("LunarLander-v3", 1, n_threads=2), EnvpoolEnvs)
    assert not envpool_has("Nowhere-v0")


def test_an_id_of_another_s_is_not_envpool_s(monkeypatch):
    """Somebody's own MountainCar-v0, whatever envpool knows under that name."""
    assert envpool_has("MountainCar-v0")
    registry = {id: spec for id, spec in gymnasium.registry.items() if id != "MountainCar-v0"}
    monkeypatch.setattr(gymnasium.envs.registration, "registry", registry)
    monkeypatch.setattr(gymnasium, "registry", registry)
    gymnasium.register(
        "MountainCar-v0", entry_point=lambda: gymnasium.make("CartPole-v1").unwrapped
    )
    assert not envpool_has("MountainCar-v0")
    envs = host_envs("MountainCar-v0", 2)
    assert envs.reset(0).shape == (2, 4)
    envs.close()


def test_envpool_steps_some_while_the_others_stand_still():
    """Interleaved as one likes, an environment lives as if it were alone."""
    alone = EnvpoolEnvs("CartPole-v1", 1)
    seen = [alone.reset([8])[0]]
    seen += [alone.step_some(np.array([i % 2]), np.array([0]))[0][0] for i in range(6)]
    alone.close()
    pool = EnvpoolEnvs("CartPole-v1", 3)
    first = pool.reset([8, 9, 8])
    assert first[0].tobytes() == first[2].tobytes() == seen[0].tobytes() != first[1].tobytes()
    for i in range(6):
        observation, reward, over = pool.step_some(np.array([i % 2, 1]), np.array([2, 1]))
        assert observation[0].tobytes() == seen[i + 1].tobytes()
        assert reward.tolist() == [1, 1]
        assert not over.any()
    observation, _, _ = pool.step_some(np.array([0]), np.array([0]))
    assert observation[0].tobytes() == seen[1].tobytes()
    pool.close()
