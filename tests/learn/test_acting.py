import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.crispen.distill import KnowsCosts
from crisptree.crispen.level_choices import KnowsProbabilities
from crisptree.envs.policy import Policy
from crisptree.learn import dqn, ppo
from crisptree.learn.acting import GreedyQPolicy, greedy, sampler
from crisptree.learn.config import DQNConfig, PPOConfig
from crisptree.learn.heads import Categorical, Gaussian, MultiCategorical
from crisptree.learn.moments import Moments
from crisptree.learn.stacks import pick, stack
from crisptree.soft import MLP, AxisTree, SoftTree, balanced, baseline

CONFIG, Q = PPOConfig(), DQNConfig(buffer_size=512)
SEEN = Moments(jnp.array([1.0, -2.0, 0.0]), jnp.array([4.0, 0.01, 1.0]), jnp.array(100.0))
BOX = Gaussian((-1.0, 0.0), (1.0, 4.0))


def of_tree(kind, head, key):
    return ppo.init(kind.random(balanced(6), 3, head, key=key), 3, CONFIG, 5, key=key)


STATES = {
    "soft": lambda key: of_tree(SoftTree, Categorical(4), key),
    "axis": lambda key: of_tree(AxisTree, Categorical(4), key),
    "parts": lambda key: of_tree(AxisTree, MultiCategorical((2, 3)), key),
    "box": lambda key: of_tree(SoftTree, BOX, key),
    "mlp": lambda key: ppo.init(baseline(1, 3, 4, key=key), 3, CONFIG, 5, key=key),
    "mlp box": lambda key: ppo.init(MLP.policy(3, (8,), BOX, key=key), 3, CONFIG, 5, key=key),
    "q": lambda key: dqn.init(SoftTree.random(balanced(6), 3, 4, key=key), 3, Q, 5, key=key),
}


@pytest.mark.parametrize("kind", STATES)
@pytest.mark.parametrize("moments", [SEEN, Moments.empty((3,))], ids=["seen", "unseen"])
def test_numpy_acts_as_each_learner_s_own_policy(kind, moments):
    alone = [STATES[kind](jax.random.key(seed)) for seed in range(2)]
    alone = [eqx.tree_at(lambda s: s.observations, state, moments) for state in alone]
    states, head = stack(alone), alone[0].head
    random = np.random.default_rng(0)
    observation = (20 * random.normal(size=(2, 500, 3))).astype(np.float32)
    noise = np.stack([head.noise(jax.random.key(i), (500,)) for i in range(2)])
    action, log_probability = sampler(states)(observation, noise)
    for seed in range(2):
        state = pick(states, seed)
        distribution = state.distribution(jnp.asarray(observation[seed]))
        expected = head.sample(distribution, jnp.asarray(noise[seed]))
        np.testing.assert_allclose(action[seed], expected, rtol=1e-4, atol=1e-4)
        its_log = head.log_probability(distribution, expected)
        np.testing.assert_allclose(log_probability[seed], its_log, rtol=1e-3, atol=1e-3)
        best = head.to_env(head.mode(distribution))
        acted = greedy(state).act(observation[seed])
        assert isinstance(acted, np.ndarray)
        np.testing.assert_allclose(acted, best, rtol=1e-4, atol=1e-4)
    assert (action[0] != action[1]).any()


def test_it_is_a_policy():
    assert isinstance(greedy(STATES["axis"](jax.random.key(0))), Policy)


def test_a_q_learner_knows_what_a_wrong_action_costs():
    state = STATES["q"](jax.random.key(0))
    rows = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    q = np.asarray(state.q_values(jnp.asarray(rows)))
    policy = greedy(state)
    assert isinstance(policy, GreedyQPolicy)
    np.testing.assert_allclose(policy.regret(rows), q.max(1) - q.min(1), rtol=1e-4, atol=1e-6)
    assert not hasattr(greedy(STATES["axis"](jax.random.key(0))), "regret")


def test_a_policy_of_choices_knows_how_much_less_likely_each_is():
    state = STATES["mlp"](jax.random.key(1))
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    likely = np.exp(np.asarray(state.distribution(jnp.asarray(rows))))
    expected = likely.max(1, keepdims=True) - likely
    policy = greedy(state)
    assert isinstance(policy, KnowsCosts)
    np.testing.assert_allclose(policy.regrets(rows), expected, rtol=1e-4, atol=1e-6)
    assert not isinstance(greedy(STATES["box"](jax.random.key(0))), KnowsCosts)


def test_a_policy_of_several_choices_knows_it_of_each_part():
    state = STATES["parts"](jax.random.key(1))
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    policy = greedy(state)
    assert isinstance(policy, KnowsCosts) and isinstance(policy, KnowsProbabilities)
    likely = policy.probabilities(rows)
    assert [part.shape[1] for part in likely] == list(state.head.sizes)
    for part in likely:
        np.testing.assert_allclose(part.sum(1), 1, rtol=1e-5)
    chosen = np.stack([part.argmax(1) for part in likely], 1)
    assert np.array_equal(policy.act(rows), chosen)
    regrets = policy.regrets(rows)
    assert regrets.shape == (40, sum(state.head.sizes))
    starts = np.cumsum([0, *state.head.sizes[:-1]])
    assert (np.take_along_axis(regrets, starts + chosen, 1) == 0).all()
