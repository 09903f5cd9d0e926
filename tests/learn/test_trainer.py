"""The training loop: the same bytes however it is cut, resumed, or shared among seeds."""

from dataclasses import replace

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from trajectories import to_bytes

from crisptree.base.errors import CrisptreeError
from crisptree.envs.cartpole import CartPole
from crisptree.envs.envpool_envs import EnvpoolEnvs
from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.task import task_of
from crisptree.learn import checkpoint, dqn, ppo, reinforce, sac
from crisptree.learn.collect import collect, fresh_envs
from crisptree.learn.config import DQNConfig, PPOConfig, ReinforceConfig, SACConfig
from crisptree.learn.stacks import n_seeds, pick, stack
from crisptree.learn.traced_config import per_seed
from crisptree.learn.trainer import Trainer, algorithm_of
from crisptree.soft import SoftTree, balanced

PPO = PPOConfig(n_envs=2, n_steps=16, n_epochs=2, n_minibatches=2, plateau_speedup=1.0)
DQN = DQNConfig(
    n_envs=2,
    n_steps=8,
    gradient_steps=2,
    buffer_size=64,
    batch_size=8,
    learning_starts=20,
    target_update_interval=3,
    plateau_speedup=1.0,
)
CONFIGS = {"ppo": PPO, "dqn": DQN, "online_q": replace(DQN, algorithm="online_q")}
UPDATES, RESTART = 6, 3


def fresh(config, n: int = 2, n_updates: int = UPDATES):
    """`n` seeds."""

    def one(seed: int):
        for_tree, for_state = jax.random.split(jax.random.key(seed))
        tree = SoftTree.random(balanced(4), 4, 2, key=for_tree)
        return algorithm_of(config).init(tree, 4, config, n_updates, key=for_state)

    return stack([one(seed) for seed in range(n)])


def envs_of(backend: str, n: int):
    if backend == "jax":
        return CartPole()
    task = task_of("CartPole-v1")
    return [GymnasiumEnvs(task, n) if backend == "gymnasium" else EnvpoolEnvs(task, n)]


def learn(states, config, env, length: int = 3, **options) -> list:
    """As a new process would."""
    n = n_seeds(states)
    with Trainer(None, config, n, 7, env=env, restart_every=RESTART) as trainer:
        return list(trainer.learn(states, length, **options))


def metrics_of(progress: list) -> dict[str, np.ndarray]:
    names = progress[0].metrics
    return {name: np.concatenate([at.metrics[name] for at in progress]) for name in names}


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("backend", ["jax", "gymnasium", "envpool"])
def test_the_same_bytes_however_the_segments_fall(backend, name, tmp_path):
    """Whole segments, single updates, and a training that went on from its checkpoint."""
    config = CONFIGS[name]
    states, env = fresh(config), envs_of(backend, 4)
    whole = learn(states, config, env)
    single = learn(states, config, env, 1)
    assert to_bytes(whole[-1].states) == to_bytes(single[-1].states)
    assert to_bytes(whole[-1].states) != to_bytes(states)

    assert [at.is_resumable for at in single] == [False, False, True] * 2
    checkpoint.save(tmp_path / "states.eqx", whole[0].states)
    going_on = learn(checkpoint.load(tmp_path / "states.eqx", states), config, env, 2)
    assert to_bytes(going_on[-1].states) == to_bytes(whole[-1].states)
    for metric, values in metrics_of(whole).items():
        assert values.shape == (UPDATES, 2)
        np.testing.assert_array_equal(values, metrics_of(single)[metric])
        np.testing.assert_array_equal(values[3:], metrics_of(going_on)[metric])
    assert {"return", "episodes", "value_loss", "progress"} <= metrics_of(whole).keys()
    assert [at.update for at in whole] == [3, 6]
    assert [at.share for at in whole] == [0.5, 1.0]
    assert whole[0].steps_per_update == config.steps_per_update


def test_a_seed_learns_the_same_among_others():
    """To the last bit: on a CPU seeds are learned by one program, each on its own."""
    states = fresh(PPO, 3)
    together = learn(states, PPO, CartPole())[-1]
    alone = learn(stack([pick(states, 2)]), PPO, CartPole())[-1]
    assert to_bytes(pick(together.states, 2)) == to_bytes(pick(alone.states, 0))
    np.testing.assert_array_equal(
        together.metrics["value_loss"][:, 2:], alone.metrics["value_loss"]
    )
    assert to_bytes(pick(together.states, 0).actor) != to_bytes(pick(together.states, 1).actor)


@pytest.mark.parametrize("backend", ["jax", "gymnasium"])
def test_seeds_at_once_are_seeds_apart(backend):
    """As an accelerator takes them. Sums may be taken in another order: equal within float32."""
    states, results = fresh(PPO, n_updates=3), []
    for at_once in (True, False):
        env = envs_of(backend, 4)
        with Trainer(None, PPO, 2, 7, env=env, at_once=at_once) as trainer:
            results.append(list(trainer.learn(states, 16))[-1])
    one, other = results
    assert to_bytes(one.states.key) == to_bytes(other.states.key)
    parts = [jax.tree.leaves((at.states.actor, at.states.critic)) for at in results]
    for a, b in zip(*parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(one.metrics["episodes"], other.metrics["episodes"])
    assert one.metrics["episodes"].shape == (3, 2)


def test_learning_is_collecting_and_updating():
    """Against the pure functions, one after the other."""
    states = fresh(PPO, 1, n_updates=3)
    state = pick(states, 0)
    envs = fresh_envs(CartPole(), PPO.n_envs, state.key)
    for _ in range(3):
        envs, trajectory = eqx.filter_jit(collect)(state, envs, CartPole(), PPO)
        state, _ = jax.jit(ppo.update)(state, trajectory, PPO)
    learned = pick(learn(states, PPO, CartPole())[-1].states, 0)
    for one, other in zip(
        jax.tree.leaves(state.actor), jax.tree.leaves(learned.actor), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
    assert to_bytes(state.key) == to_bytes(learned.key)


@pytest.mark.parametrize("backend", ["jax", "gymnasium"])
def test_seeds_may_have_their_own_step_sizes(backend):
    config = per_seed([replace(PPO, learning_rate=rate) for rate in (1e-4, 1e-2)])
    same = stack([pick(fresh(PPO), 0)] * 2)
    after = learn(same, config, envs_of(backend, 4))[-1].states
    moved = np.abs(after.actor.leaves - same.actor.leaves).max((1, 2))
    assert 0 < 10 * moved[0] < moved[1]


@pytest.mark.parametrize("backend", ["jax", "gymnasium"])
def test_a_seed_that_is_done_waits_for_the_others(backend):
    """The first has 2 updates to make, the second 5."""
    states = stack([pick(fresh(PPO, n_updates=n), i) for i, n in enumerate((2, 5))])
    progress = learn(states, PPO, envs_of(backend, 4), 4)
    after = progress[-1].states
    assert after.update.tolist() == [2, 5]
    values = metrics_of(progress)["value_loss"]
    np.testing.assert_array_equal(np.isfinite(values).sum(0), [2, 5])
    assert progress[0].share == pytest.approx(3 / 5)
    assert to_bytes(pick(after, 0)) == to_bytes(pick(progress[0].states, 0))


@pytest.mark.parametrize(
    ("length", "restart", "updates"),
    [(6, 10, [6]), (4, 10, [4, 6]), (4, 3, [3, 6]), (2, 3, [2, 3, 5, 6]), (100, 4, [4, 6])],
)
def test_restarts_fall_between_segments(length, restart, updates):
    config = ReinforceConfig(n_envs=1, n_steps=2, plateau_speedup=1.0)
    with Trainer(None, config, env=CartPole(), restart_every=restart) as trainer:
        progress = list(trainer.learn(fresh(config, 1), length))
    assert [at.update for at in progress] == updates
    ended = [at.update % restart == 0 or at.update == UPDATES for at in progress]
    assert [at.is_resumable for at in progress] == ended


def test_a_training_that_is_done_does_nothing():
    config = ReinforceConfig(n_envs=1, n_steps=2)
    states = learn(fresh(config, 1), config, CartPole())[-1].states
    assert learn(states, config, CartPole()) == []


def test_time_is_up():
    """The segment that was under way is the last."""
    config = ReinforceConfig(n_envs=1, n_steps=2)
    asked = []

    def is_late() -> bool:
        asked.append(True)
        return len(asked) == 2

    progress = learn(fresh(config, 1, 50), config, CartPole(), is_late=is_late)
    assert [at.update for at in progress] == [3, 6]


@pytest.mark.parametrize("backend", ["jax", "gymnasium"])
def test_what_comes_between_two_segments(backend):
    """It sees the last trajectory's observations, and its states are gone on with."""
    seen = []

    def between(states, observations):
        seen.append(observations)
        return eqx.tree_at(lambda s: s.actor.leaves, states, jnp.ones_like(states.actor.leaves))

    progress = learn(fresh(PPO), PPO, envs_of(backend, 4), between=between)
    assert [len(each) for each in seen] == [2, 2]
    assert all(rows.shape == (PPO.n_envs * PPO.n_steps, 4) for each in seen for rows in each)
    assert (progress[0].states.actor.leaves == 1).all()
    assert not np.array_equal(seen[0][0], seen[0][1])


@pytest.mark.parametrize("part", ["actor", "critic"])
def test_a_loss_that_is_no_number_stops_the_training(part):
    """What was reached before is handed out; the spoilt states are not."""
    states = fresh(PPO)

    def spoilt(states, observations):
        model = jax.tree.map(lambda leaf: leaf * jnp.nan, getattr(states, part))
        return eqx.tree_at(lambda s: getattr(s, part), states, model)

    reached = []
    with (
        Trainer(None, PPO, 2, env=CartPole(), restart_every=RESTART) as trainer,
        pytest.raises(CrisptreeError, match="the policy loss became NaN at update 6: a smaller"),
    ):
        for at in trainer.learn(states, 3, between=spoilt):
            reached.append(at.update)
    assert reached == [3]


@pytest.mark.parametrize(
    ("size", "reward", "what"),
    [(1e38, 1.0, "observations"), (1.0, 1e38, "returns")],
)
def test_numbers_that_float32_cannot_square_are_the_environments(size, reward, what):
    class Large(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.seen(), {}

        def step(self, action):
            return self.seen(), reward, self.np_random.random() < 0.2, False, {}

        def seen(self):
            return (size * self.np_random.random(4)).astype(np.float32)

    with (
        Trainer(task_of(Large), PPO) as trainer,
        pytest.raises(CrisptreeError, match=rf"Large' has {what} as large as .* smaller units"),
    ):
        list(trainer.learn(fresh(PPO, 1)))


def test_each_configuration_has_its_algorithm():
    assert algorithm_of(PPO) is ppo
    assert algorithm_of(DQN) is dqn
    assert algorithm_of(ReinforceConfig()) is reinforce
    assert algorithm_of(SACConfig()) is sac


def test_a_soft_tree_of_eight_leaves_balances_the_pole():
    """250,000 steps with the settings it has by default, but for the pace."""
    config = PPOConfig(plateau_speedup=1.0)
    for_tree, for_state = jax.random.split(jax.random.key(0))
    tree = SoftTree.random(balanced(8), 4, 2, key=for_tree)
    states = stack([ppo.init(tree, 4, config, 30, key=for_state)])
    with Trainer(task_of("CartPole-v1"), config) as trainer:
        metrics = metrics_of(list(trainer.learn(states)))
    returns, episodes = metrics["return"][:, 0], metrics["episodes"][:, 0]
    assert returns[0] < 50
    assert np.average(returns[-5:], weights=episodes[-5:]) >= 475
