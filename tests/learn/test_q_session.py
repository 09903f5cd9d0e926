"""Q-learning through the one training loop: same bytes, stopped or not, compiled or hosted."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.cartpole import CartPole
from crisptree.envs.host import GymnasiumEnvs
from crisptree.learn import checkpoint, session
from crisptree.learn.q_agent import QAgent, create
from crisptree.learn.q_config import QLearning
from crisptree.learn.session import compiled_segment, hosted_segment, learn
from crisptree.learn.stacks import pick, stack
from crisptree.soft import SoftTree, balanced

DQN = QLearning(n_envs=2, n_steps=2, rounds=4, memory=64, batch=8, warm_up=3, sync_every=3)
CONFIGS = {"q": DQN, "online-q": dataclasses.replace(DQN, algorithm="online-q")}
UPDATES = 6


@pytest.fixture(params=CONFIGS)
def config(request) -> QLearning:
    return CONFIGS[request.param]


@pytest.fixture(params=["compiled", "hosted"])
def new_segment(request, config, monkeypatch):
    """Makes segments as a new process would; environments start afresh after three updates."""
    monkeypatch.setattr(session, "RESTART", 3)
    monkeypatch.setattr(session, "host_envs", lambda id, n, n_threads: GymnasiumEnvs(id, n))
    if request.param == "compiled":
        return lambda: compiled_segment(CartPole(), config, 4)
    return lambda: hosted_segment("CartPole-v1", config, n_seeds=2, seed=7)


def two_seeds(config: QLearning) -> QAgent:
    def fresh(seed: int) -> QAgent:
        for_tree, for_agent = jax.random.split(jax.random.key(seed))
        tree = SoftTree.random(balanced(4), 4, 2, key=for_tree)
        return create(tree, 4, config, UPDATES, key=for_agent)

    return stack([fresh(0), fresh(1)])


def to_bytes(agents: QAgent) -> list[bytes]:
    def numbers(leaf):
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf)

    return [numbers(leaf).tobytes() for leaf in jax.tree.leaves(agents)]


def metrics_of(progress: list) -> dict[str, np.ndarray]:
    names = progress[0].metrics
    return {name: np.concatenate([at.metrics[name] for at in progress]) for name in names}


def test_the_same_bytes_however_the_segments_fall(config, new_segment, tmp_path):
    """Whole segments, single updates, and a training that went on from its checkpoint."""
    agents = two_seeds(config)
    whole = list(learn(agents, new_segment(), 3))
    single = list(learn(agents, new_segment(), 1))
    assert to_bytes(whole[-1].agents) == to_bytes(single[-1].agents)
    assert whole[0].is_resumable
    checkpoint.save(tmp_path / "agents.npz", whole[0].agents)
    going_on = list(learn(checkpoint.load(tmp_path / "agents.npz", agents), new_segment(), 2))
    assert to_bytes(going_on[-1].agents) == to_bytes(whole[-1].agents)
    for name, values in metrics_of(whole).items():
        assert values.shape == (UPDATES, 2)
        np.testing.assert_array_equal(values, metrics_of(single)[name])
        np.testing.assert_array_equal(values[3:], metrics_of(going_on)[name])
    assert {"return", "episodes", "value_loss"} <= metrics_of(whole).keys()
    assert np.isfinite(metrics_of(whole)["value_loss"]).all()


def test_an_update_is_all_its_rounds(config, new_segment):
    agents = two_seeds(config)
    at = list(learn(agents, new_segment(), 3))[-1].agents
    assert at.update.tolist() == [UPDATES, UPDATES]
    assert at.round.tolist() == [UPDATES * config.rounds] * 2
    if at.replay is not None:
        assert at.replay.count.tolist() == at.round.tolist()
    assert at.observations.count.tolist() == [UPDATES * config.steps_per_update] * 2
    np.testing.assert_allclose(at.epsilon, config.epsilon_end, rtol=1e-6)
    one, other = pick(at, 0), pick(at, 1)
    assert to_bytes(one.actor) != to_bytes(other.actor)


def test_returns_are_of_the_episodes_that_ended(monkeypatch):
    """CartPole pays 1 a step: the returns of all episodes, and what goes on, are all steps."""
    monkeypatch.setattr(session, "host_envs", lambda id, n, n_threads: GymnasiumEnvs(id, n))
    config = dataclasses.replace(DQN, rounds=40)
    for segment in (
        compiled_segment(CartPole(), config, 4),
        hosted_segment("CartPole-v1", config, n_seeds=2, seed=7),
    ):
        metrics = metrics_of(list(learn(two_seeds(config), segment, 3)))
        ended = np.nansum(metrics["return"] * metrics["episodes"], 0)
        assert (ended > 0.5 * UPDATES * config.steps_per_update).all()
        assert (ended <= UPDATES * config.steps_per_update).all()
