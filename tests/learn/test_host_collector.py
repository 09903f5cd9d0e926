import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.envpool_envs import EnvpoolEnvs
from crisptree.envs.task import task_of
from crisptree.envs.vector import VectorEnv, VectorStep
from crisptree.learn import ppo
from crisptree.learn.collect import HostCollector
from crisptree.learn.config import PPOConfig
from crisptree.learn.stacks import pick, stack
from crisptree.learn.trainer import Trainer
from crisptree.learn.trajectory import COLLECT
from crisptree.soft import AxisTree, SoftTree, balanced

T, N, F = 6, 2, 3
CONFIG = PPOConfig(n_envs=N, n_steps=T, n_minibatches=1, gamma=0.5)

# environment 0 terminates at step 1, only resets at step 2, and is truncated at step 4, where its
# next episode starts at once; environment 1 goes on and on
REWARDS = [1, 2, 0, 4, 8, 16]
TERMINATED = [0, 1, 0, 0, 0, 0]
TRUNCATED = [0, 0, 0, 0, 1, 0]
VALID = [1, 1, 0, 1, 1, 1]


class Scripted(VectorEnv):
    """Two seeds of two environments: the script, and one that is always the same, twice."""

    def __init__(self) -> None:
        self.actions: list[np.ndarray] = []
        self.time = 0

    def _rows(self, scripted, other, dtype) -> np.ndarray:
        return np.array([scripted, other, scripted, other], dtype)

    def _seen(self, scripted: float, other: float) -> np.ndarray:
        """Observations of which the first number matters."""
        return np.outer(self._rows(scripted, other, np.float32), [1, 0, 0]).astype(np.float32)

    def reset(self, seed: int) -> np.ndarray:
        return self._seen(0, 100)

    def send(self, action: np.ndarray) -> None:
        self.actions.append(action)

    def receive(self) -> VectorStep:
        t, self.time = self.time, self.time + 1
        return VectorStep(
            # after the truncation, another episode's first
            observation=self._seen(t + 1 + 0.5 * TRUNCATED[t], 101 + t),
            next_observation=self._seen(t + 1, 101 + t),
            reward=self._rows(REWARDS[t], 1, np.float32),
            terminated=self._rows(TERMINATED[t], 0, bool),
            truncated=self._rows(TRUNCATED[t], 0, bool),
            valid=self._rows(VALID[t], 1, bool),
        )

    def close(self) -> None: ...


def fresh(seed: int):
    tree = SoftTree.random(balanced(4), F, 2, key=jax.random.key(seed))
    return ppo.init(tree, F, CONFIG, 5, key=jax.random.key(seed + 10))


@pytest.fixture(scope="module")
def seen():
    """The states, the environments, and the trajectory."""
    states, envs = stack([fresh(0), fresh(1)]), Scripted()
    collector = HostCollector([envs], n_seeds=2, n_agents=1, gamma=CONFIG.gamma, seed=0)
    return states, envs, collector.collect(states, CONFIG)


def test_every_part_has_seeds_first_then_time_then_environments(seen):
    trajectory = seen[2]
    for name, part in trajectory._asdict().items():
        features = (F,) if "observation" in name else ()
        shape = () if name in ("return_sum", "n_episodes") else (T, N, *features)
        assert part.shape == (2, *shape), name


def test_what_ends_and_what_only_resets(seen):
    """Terminated does not bootstrap, truncated does; both cut, and so does a step that resets."""
    trajectory = seen[2]
    for seed in range(2):
        assert trajectory.terminated[seed, :, 0].tolist() == [0, 1, 0, 0, 0, 0]
        assert trajectory.done[seed, :, 0].tolist() == [0, 1, 1, 0, 1, 0]
        assert trajectory.mask[seed, :, 0].tolist() == [1, 1, 0, 1, 1, 1]
        assert not trajectory.terminated[seed, :, 1].any()
        assert not trajectory.done[seed, :, 1].any()
        assert trajectory.mask[seed, :, 1].all()


def test_observations_and_where_they_led(seen):
    trajectory = seen[2]
    for seed in range(2):
        assert trajectory.observation[seed, :, 0, 0].tolist() == [0, 1, 2, 3, 4, 5.5]
        assert trajectory.next_observation[seed, :, 0, 0].tolist() == [1, 2, 3, 4, 5, 6]
        assert trajectory.observation[seed, :, 1, 0].tolist() == [100, 101, 102, 103, 104, 105]


def test_rewards_and_discounted_returns_start_over_with_an_episode(seen):
    """γ = ½."""
    trajectory = seen[2]
    assert trajectory.reward[0, :, 0].tolist() == REWARDS
    assert trajectory.discounted_return[0, :, 0].tolist() == [1, 2.5, 0, 4, 10, 16]
    assert trajectory.discounted_return[1, :3, 1].tolist() == [1, 1.5, 1.75]


def test_returns_are_of_the_episodes_that_ended(seen):
    """1 + 2 and 4 + 8; the last one goes on, and environment 1 ended none."""
    trajectory = seen[2]
    assert trajectory.n_episodes.tolist() == [2, 2]
    assert trajectory.return_sum.tolist() == [15, 15]


def test_actions_are_each_learner_s_own_samples(seen):
    states, envs, trajectory = seen
    for seed in range(2):
        state = pick(states, seed)
        noise = state.head.noise(jax.random.fold_in(state.key, COLLECT), (T, N)).reshape(T * N, 1)
        distribution = state.distribution(jnp.asarray(trajectory.observation[seed].reshape(-1, F)))
        action = state.head.sample(distribution, noise)
        np.testing.assert_array_equal(trajectory.action[seed].ravel(), action)
        np.testing.assert_allclose(
            trajectory.log_probability[seed].ravel(),
            state.head.log_probability(distribution, action),
            rtol=1e-5,
        )
        taken = np.stack(envs.actions)[:, seed * N : (seed + 1) * N]
        np.testing.assert_array_equal(taken, trajectory.action[seed])
    assert (trajectory.action[0] != trajectory.action[1]).any()


class Team(VectorEnv):
    """One environment of two agents, who earn 1 and 10 a step: the first dies at the second step,
    the other at the third; then the next episode starts."""

    def reset(self, seed: int) -> np.ndarray:
        self.time = 0
        return np.zeros((2, F), np.float32)

    def send(self, action: np.ndarray) -> None: ...

    def receive(self) -> VectorStep:
        self.time, time = self.time + 1, self.time % 3
        first_acts = time < 2
        nothing = np.zeros((2, F), np.float32)
        return VectorStep(
            observation=nothing,
            next_observation=nothing,
            reward=np.array([first_acts, 10], np.float32),
            terminated=np.array([time == 1, time == 2]),
            truncated=np.zeros(2, bool),
            valid=np.array([first_acts, True]),
        )

    def close(self) -> None: ...


def test_a_team_s_return_is_the_mean_over_those_alive():
    """(1 + 10)/2 twice and then 10 alone; two episodes end in six steps."""
    states = stack([fresh(0)])
    trajectory = HostCollector([Team()], 1, 2, 0.5, 0).collect(states, CONFIG)
    assert trajectory.n_episodes.tolist() == [2]
    assert trajectory.return_sum.tolist() == [2 * 21]
    assert trajectory.mask[0, :, 0].tolist() == [1, 1, 0] * 2
    assert trajectory.done[0, :, 0].tolist() == [0, 1, 1] * 2
    assert trajectory.done[0, :, 1].tolist() == [0, 0, 1] * 2
    assert trajectory.discounted_return[0, :, 1].tolist() == [10, 15, 17.5] * 2


def test_in_two_parts_every_environment_lives_as_in_one():
    """LunarLander in one pool, and in two of which one steps while the other is acted for."""
    config = PPOConfig(n_envs=5, n_steps=96, n_epochs=1, n_minibatches=1)
    tree = AxisTree.random(balanced(4), 8, 4, key=jax.random.key(0))
    states = stack([ppo.init(tree, 8, config, 2, key=jax.random.key(1))])
    whole = EnvpoolEnvs(task_of("LunarLander-v3"), 5, 2)
    assert len(whole.parts()) == 2
    results = []
    for envs in ([whole], whole.parts()):
        with Trainer(None, config, env=envs) as trainer:
            (progress,) = trainer.learn(states, 2)
        arrays = (progress.states.actor, progress.states.critic, progress.metrics)
        results.append([np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(arrays)])
        assert progress.metrics["episodes"].sum() > 0
    assert results[0] == results[1]
