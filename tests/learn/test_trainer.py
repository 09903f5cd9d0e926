import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.cartpole import CartPole
from crisptree.envs.host import EnvpoolEnvs, GymnasiumEnvs
from crisptree.learn import session
from crisptree.learn.agent import Agent, create
from crisptree.learn.compiled import train
from crisptree.learn.config import Learning
from crisptree.learn.rates import rates_of
from crisptree.learn.session import compiled_segment, hosted_segment, learn
from crisptree.learn.stacks import pick, stack
from crisptree.soft import SoftTree, balanced

CONFIG = Learning(n_envs=2, n_steps=16, epochs=2, minibatches=2)
UPDATES = 6


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Environments start afresh after every third update."""
    monkeypatch.setattr(session, "RESTART", 3)


@pytest.fixture(scope="module")
def agents() -> Agent:
    """Two seeds."""

    def fresh(seed: int) -> Agent:
        for_tree, for_agent = jax.random.split(jax.random.key(seed))
        tree = SoftTree.random(balanced(4), 4, 2, key=for_tree)
        return create(tree, 4, CONFIG, UPDATES, key=for_agent)

    return stack([fresh(0), fresh(1)])


def compiled():
    return compiled_segment(CartPole(), CONFIG, 4)


def with_gymnasium():
    return hosted_segment("CartPole-v1", CONFIG, n_seeds=2, seed=7)


@pytest.fixture(params=["compiled", "gymnasium", "envpool"])
def new_segment(request, monkeypatch):
    """Makes segments as a new process would."""
    if request.param == "compiled":
        return compiled
    adapter = {"gymnasium": GymnasiumEnvs, "envpool": EnvpoolEnvs}[request.param]
    monkeypatch.setattr(session, "host_envs", lambda id, n, n_threads: adapter(id, n))
    return with_gymnasium


def saved(agents: Agent) -> Agent:
    """The same agents from copied numbers, as from a file."""

    def copied(leaf):
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(jnp.asarray(np.array(jax.random.key_data(leaf))))
        return jnp.asarray(np.array(leaf))

    return jax.tree.map(copied, agents)


def to_bytes(agents: Agent) -> list[bytes]:
    def numbers(leaf):
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf)

    return [numbers(leaf).tobytes() for leaf in jax.tree.leaves(agents)]


def metrics_of(progress: list) -> dict[str, np.ndarray]:
    names = progress[0].metrics
    return {name: np.concatenate([at.metrics[name] for at in progress]) for name in names}


def test_the_same_agents_learn_the_same_bytes_however_the_segments_fall(agents, new_segment):
    """Whole segments, single updates, and a training that was stopped and went on."""
    whole = list(learn(agents, new_segment(), 3))
    single = list(learn(saved(agents), new_segment(), 1))
    assert to_bytes(whole[-1].agents) == to_bytes(single[-1].agents)
    assert to_bytes(whole[-1].agents) != to_bytes(agents)

    assert whole[0].is_resumable
    going_on = list(learn(saved(whole[0].agents), new_segment(), 2))
    assert to_bytes(going_on[-1].agents) == to_bytes(whole[-1].agents)
    for name, values in metrics_of(whole).items():
        assert values.shape == (UPDATES, 2)
        np.testing.assert_array_equal(values, metrics_of(single)[name])
        np.testing.assert_array_equal(values[3:], metrics_of(going_on)[name])
    assert (metrics_of(whole)["episodes"].sum(0) > 0).all()


def test_seeds_together_are_seeds_alone(agents, monkeypatch):
    """One program for two seeds against the pure function of one agent. Sums over a batch may be
    taken in another order, so equal within float32, update after update."""
    monkeypatch.setattr(session, "RESTART", UPDATES)
    together = list(learn(agents, compiled(), 3))
    alone = eqx.filter_jit(
        lambda agent: train(agent, CartPole(), CONFIG, UPDATES, rates_of(CONFIG))
    )
    for seed in range(2):
        agent, metrics = alone(pick(agents, seed))
        of_together = pick(together[-1].agents, seed)
        for one, other in zip(
            jax.tree.leaves((agent.actor, agent.critic, agent.observations)),
            jax.tree.leaves((of_together.actor, of_together.critic, of_together.observations)),
            strict=True,
        ):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
        assert to_bytes(agent.key) == to_bytes(of_together.key)
        episodes = metrics_of(together)["episodes"][:, seed]
        np.testing.assert_array_equal(metrics["episodes"], episodes)  # the same lives were lived
    assert to_bytes(pick(agents, 0).actor) != to_bytes(pick(agents, 1).actor)


def test_stack_and_pick(agents):
    again = stack([pick(agents, 0), pick(agents, 1)])
    assert to_bytes(again) == to_bytes(agents)
    assert pick(agents, 1).actor.topology == balanced(4)


class Recorded:
    """A segment that only counts, and whose loss may turn NaN."""

    def __init__(self, nan_at: int | None = None, name: str = "policy_loss") -> None:
        self.lengths: list[int] = []
        self.nan_at, self.name = nan_at, name

    def __call__(self, agents: Agent, n: int):
        self.lengths.append(n)
        metrics = {name: np.zeros((n, 2)) for name in ("policy_loss", "value_loss")}
        start = int(agents.update[0])
        if self.nan_at is not None and start <= self.nan_at < start + n:
            metrics[self.name][self.nan_at - start, 1] = np.nan
        counted = eqx.tree_at(lambda a: a.update, agents, agents.update + n)
        return counted, metrics


@pytest.mark.parametrize(
    ("length", "restart", "lengths"),
    [(6, 10, [6]), (4, 10, [4, 2]), (4, 3, [3, 3]), (2, 3, [2, 1, 2, 1]), (100, 4, [4, 2])],
)
def test_restarts_fall_between_segments(agents, monkeypatch, length, restart, lengths):
    monkeypatch.setattr(session, "RESTART", restart)
    segment = Recorded()
    progress = list(learn(agents, segment, length))
    assert segment.lengths == lengths
    assert [at.update for at in progress] == np.cumsum(lengths).tolist()
    assert [at.is_resumable for at in progress] == [at.update % restart == 0 for at in progress]


def test_a_training_that_is_done_does_nothing(agents):
    done = eqx.tree_at(lambda a: a.update, agents, agents.update + UPDATES)
    assert list(learn(done, Recorded(), 3)) == []


@pytest.mark.parametrize("name", ["policy_loss", "value_loss"])
def test_a_loss_that_is_no_number_stops_the_training(agents, name):
    """What was reached before is handed out; the spoilt agents are not."""
    reached = []
    with pytest.raises(CrisptreeError, match=f"{name.replace('_', ' ')} became NaN at update"):
        for at in learn(agents, Recorded(nan_at=4, name=name), 2):
            reached.append(at.update)
    assert reached == [2, 3]
