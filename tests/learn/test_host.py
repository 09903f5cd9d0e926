import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.host import EnvpoolEnvs, HostEnvs, HostStep
from crisptree.learn import hosted
from crisptree.learn.agent import create
from crisptree.learn.config import Learning
from crisptree.learn.hosted import Stage
from crisptree.learn.improve import improve
from crisptree.learn.rates import rates_of, shape_of
from crisptree.learn.rollout import Rollout, sample_actions
from crisptree.learn.stacks import pick, stack
from crisptree.soft import AxisTree, SoftTree, balanced

T, N, F = 6, 2, 3
CONFIG = Learning(n_envs=N, n_steps=T, minibatches=1, gamma=0.5)

# environment 0 terminates at step 1, only resets at step 2, and is truncated at step 4, where its
# next episode starts at once; environment 1 goes on and on
REWARDS = [1, 2, 0, 4, 8, 16]
TERMINATED = [0, 1, 0, 0, 0, 0]
TRUNCATED = [0, 0, 0, 0, 1, 0]
VALID = [1, 1, 0, 1, 1, 1]


class Scripted(HostEnvs):
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

    def receive(self) -> HostStep:
        t, self.time = self.time, self.time + 1
        return HostStep(
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
    return create(tree, F, CONFIG, 5, key=jax.random.key(seed + 10))


@pytest.fixture(scope="module")
def lived():
    """The agents, the environments, the rollout that reaches the update, and the metrics."""
    agents, envs, rollouts = stack([fresh(0), fresh(1)]), Scripted(), []

    def learn(agents, rollout: Rollout, rates):
        rollouts.append(rollout)
        return agents, {"policy_loss": jnp.zeros(2)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hosted, "_learning", lambda config: learn)
        _, metrics = Stage([envs], 2, CONFIG, seed=0).update(agents)
    return agents, envs, rollouts[0], metrics


def test_actors_and_critics_learn_side_by_side_what_they_learn_together(lived):
    """By halves, in two threads, as `improve` does it in one program."""
    agents, _, rollout, _ = lived
    rates = rates_of(CONFIG)
    found, metrics = hosted._learning(shape_of(CONFIG))(agents, rollout, rates)
    again, _ = hosted._learning(shape_of(CONFIG))(agents, rollout, rates)
    over_seeds = (eqx.if_array(0), 0, None, None)
    expected, log = eqx.filter_jit(eqx.filter_vmap(improve, in_axes=over_seeds))(
        agents, rollout, CONFIG, rates
    )
    for one, same, other in zip(*map(numbers, (found, again, expected)), strict=True):
        np.testing.assert_array_equal(one, same)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert set(metrics) == set(log)
    for name, values in log.items():
        np.testing.assert_allclose(metrics[name], values, rtol=1e-4, atol=1e-6)
    assert not np.allclose(found.actor.leaves, agents.actor.leaves)


def numbers(agents) -> list[np.ndarray]:
    agents = eqx.tree_at(lambda a: a.key, agents, jax.random.key_data(agents.key))
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(agents, eqx.is_array))]


def test_every_part_has_seeds_first_then_time_then_environments(lived):
    rollout = lived[2]
    for name, part in rollout._asdict().items():
        features = (F,) if "observation" in name else ()
        assert part.shape == (2, T, N, *features), name


def test_what_ends_and_what_only_resets(lived):
    """Terminated does not bootstrap, truncated does; both cut, and so does a step that resets."""
    rollout = lived[2]
    for seed in range(2):
        assert rollout.terminated[seed, :, 0].tolist() == [0, 1, 0, 0, 0, 0]
        assert rollout.done[seed, :, 0].tolist() == [0, 1, 1, 0, 1, 0]
        assert rollout.mask[seed, :, 0].tolist() == [1, 1, 0, 1, 1, 1]
        assert not rollout.terminated[seed, :, 1].any()
        assert not rollout.done[seed, :, 1].any()
        assert rollout.mask[seed, :, 1].all()


def test_observations_and_where_they_led(lived):
    rollout = lived[2]
    for seed in range(2):
        assert rollout.observation[seed, :, 0, 0].tolist() == [0, 1, 2, 3, 4, 5.5]
        assert rollout.next_observation[seed, :, 0, 0].tolist() == [1, 2, 3, 4, 5, 6]
        assert rollout.observation[seed, :, 1, 0].tolist() == [100, 101, 102, 103, 104, 105]


def test_rewards_and_running_returns_start_over_with_an_episode(lived):
    """γ = ½."""
    rollout = lived[2]
    assert rollout.reward[0, :, 0].tolist() == REWARDS
    assert rollout.running_return[0, :, 0].tolist() == [1, 2.5, 0, 4, 10, 16]
    assert rollout.running_return[1, :3, 1].tolist() == [1, 1.5, 1.75]


def test_returns_are_of_the_episodes_that_ended(lived):
    """1 + 2 and 4 + 8; the last one goes on, and environment 1 ended none."""
    metrics = lived[3]
    assert metrics["episodes"].tolist() == [2, 2]
    assert metrics["return"].tolist() == [7.5, 7.5]


def test_actions_are_each_agent_s_own_samples(lived):
    agents, envs, rollout, _ = lived
    for seed in range(2):
        agent = pick(agents, seed)
        key = jax.random.fold_in(agent.key, 0)
        uniform = jax.random.uniform(key, (T, N)).reshape(-1)
        rows = jnp.asarray(rollout.observation[seed].reshape(-1, F))
        action, log_probability = sample_actions(agent.log_policy(rows), uniform)
        np.testing.assert_array_equal(rollout.action[seed].ravel(), action)
        np.testing.assert_allclose(
            rollout.log_probability[seed].ravel(), log_probability, rtol=1e-5
        )
        taken = np.stack(envs.actions)[:, seed * N : (seed + 1) * N]
        np.testing.assert_array_equal(taken, rollout.action[seed])
    assert (rollout.action[0] != rollout.action[1]).any()


def test_in_two_parts_every_environment_lives_as_in_one():
    """LunarLander in one pool, and in two of which one steps while the other is acted for."""
    config = Learning(n_envs=5, n_steps=96, epochs=1, minibatches=1)
    tree = AxisTree.random(balanced(4), 8, 4, key=jax.random.key(0))
    lives = []
    for in_parts in (False, True):
        envs = EnvpoolEnvs("LunarLander-v3", 5, 2)
        stage = Stage(envs.parts() if in_parts else [envs], 1, config, seed=3)
        assert [part.rows for part in stage.parts] == ([3, 2] if in_parts else [5])
        agents = stack([create(tree, 8, config, 5, key=jax.random.key(1))])
        for _ in range(2):
            agents, metrics = stage.update(agents)
        arrays = eqx.filter((agents.actor, agents.critic, metrics), eqx.is_array)
        lives.append([np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(arrays)])
        assert metrics["episodes"] > 0
        for part in stage.parts:
            part.envs.close()
    assert lives[0] == lives[1]
