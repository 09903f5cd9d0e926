"""Heads: exact log-probabilities, gradients and samples of every kind of action."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Actions
from crisptree.learn.heads import (
    Categorical,
    EpsilonGreedy,
    Gaussian,
    Head,
    MultiCategorical,
    SquashedGaussian,
    head_for,
)
from crisptree.soft import AxisTree, SoftTree, balanced

BOX = Gaussian((-2.0, 0.0), (2.0, 10.0))
PARTS = MultiCategorical((2, 3))
HEADS = {"discrete": Categorical(4), "multi_discrete": PARTS, "box": BOX}
NO_STD = jnp.zeros(0)


def softmax(logits) -> np.ndarray:
    powers = np.exp(np.asarray(logits, np.float64))
    return powers / powers.sum(-1, keepdims=True)


def test_each_kind_of_action_has_its_head():
    assert head_for(Actions.discrete(("a", "b", "c"))) == Categorical(3)
    parts = Actions.multi_discrete(("x", "y"), (("a", "b"), ("c", "d", "e")))
    assert head_for(parts) == PARTS
    assert head_for(Actions.box(("x", "y"), (-2.0, 0.0), (2.0, 10.0))) == BOX
    for head in HEADS.values():
        assert isinstance(head, Head)


@pytest.mark.parametrize(
    ("low", "high"), [(-np.inf, 1.0), (0.0, np.inf), (1.0, 1.0), (2.0, 1.0), (np.nan, 1.0)]
)
def test_bounds_that_bound_nothing_are_refused(low, high):
    with pytest.raises(CrisptreeError, match="must be finite, low below high; these are"):
        Gaussian((0.0, low), (1.0, high))


def test_a_gaussian_s_log_probability_is_scipy_s():
    random = np.random.default_rng(0)
    mean, action = random.normal(size=(2, 50, 2))
    log_std = np.array([-1.5, 0.3])
    found = BOX.log_probability((jnp.asarray(mean), jnp.asarray(log_std)), jnp.asarray(action))
    expected = stats.norm.logpdf(action, mean, np.exp(log_std)).sum(1)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_gaussian_s_gradients_in_closed_form():
    """∂/∂μ = (a - μ)/σ², ∂/∂log σ = (a - μ)²/σ² - 1."""
    with jax.enable_x64(True):
        mean, log_std, action = (
            jnp.array([0.3, -1.0]),
            jnp.array([-0.7, 0.2]),
            jnp.array([1.0, 0.5]),
        )
        of_mean, of_std = jax.grad(
            lambda m, s: BOX.log_probability((m, s), action), argnums=(0, 1)
        )(mean, log_std)
        variance = np.exp(2 * log_std)
        np.testing.assert_allclose(of_mean, (action - mean) / variance, rtol=1e-12)
        np.testing.assert_allclose(of_std, (action - mean) ** 2 / variance - 1, rtol=1e-12)


def test_a_gaussian_s_entropy_is_scipy_s_and_knows_no_state():
    mean, log_std = jnp.zeros((5, 2)), jnp.array([-1.5, 0.3])
    expected = stats.norm.entropy(scale=np.exp(log_std)).sum()
    np.testing.assert_allclose(BOX.entropy((mean, log_std)), np.full(5, expected), rtol=1e-5)
    gradient = jax.grad(lambda s: BOX.entropy((mean, s)).mean())(log_std)
    np.testing.assert_allclose(gradient, [1, 1], rtol=1e-6)


def test_a_gaussian_s_samples_have_its_mean_and_deviation():
    n, mean, log_std = 40_000, jnp.array([0.5, -0.2]), jnp.log(jnp.array([0.1, 2.0]))
    noise = BOX.noise(jax.random.key(0), (n,))
    drawn = np.asarray(BOX.sample((jnp.broadcast_to(mean, (n, 2)), log_std), noise))
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.03)
    np.testing.assert_allclose(drawn.std(0), [0.1, 2.0], rtol=0.02)
    assert BOX.mode((mean, log_std)) is mean


def test_a_gaussian_acts_in_the_bounds_units_and_is_clipped():
    action = np.array([[-1, -1], [0, 0], [1, 1], [0.5, -0.5], [-7, 7]], np.float32)
    expected = [[-2, 0], [0, 5], [2, 10], [1, 2.5], [-2, 10]]
    np.testing.assert_allclose(BOX.to_env(action), expected)
    np.testing.assert_allclose(BOX.to_env(jnp.asarray(action)), expected)


def test_a_squashed_gaussian_is_a_density():
    """Over a fine grid of actions it sums to 1, and a sample's log-probability lies on it."""
    head = SquashedGaussian((-1.0,), (1.0,))
    distribution = head.distribution(jnp.array([0.4, -0.7]), None)
    edges = jnp.tanh(jnp.linspace(-8, 8, 20_001))
    middles = (edges[1:] + edges[:-1]) / 2
    density = jnp.exp(head.log_probability(distribution, middles[:, None]))
    assert float((density * jnp.diff(edges)).sum()) == pytest.approx(1, abs=1e-3)
    noise = head.noise(jax.random.key(0), (50,))
    action, log_probability = head.sample_with_log_probability(distribution, noise)
    np.testing.assert_array_equal(action, head.sample(distribution, noise))
    expected = head.log_probability(distribution, action)
    np.testing.assert_allclose(log_probability, expected, rtol=1e-3, atol=1e-3)
    assert float(head.mode(distribution)[0]) == pytest.approx(np.tanh(0.4))


def test_a_squashed_gaussian_s_log_probability_in_closed_form():
    """log N(u) - log(1 - tanh² u), in float64, far out too."""
    with jax.enable_x64(True):
        head = SquashedGaussian((-1.0,), (1.0,))
        distribution = head.distribution(jnp.array([[0.3, -0.5]] * 4), None)
        noise = jnp.array([[0.0], [2.0], [-10.0], [30.0]])
        u = 0.3 + np.exp(-0.5) * np.asarray(noise)[:, 0]
        _, found = head.sample_with_log_probability(distribution, noise)
        slope = 2 * (np.log(2) - np.abs(u) - np.log1p(np.exp(-2 * np.abs(u))))
        expected = stats.norm.logpdf(u, 0.3, np.exp(-0.5)) - slope
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_parts_are_independent_categoricals():
    random = np.random.default_rng(0)
    logits = random.normal(size=(30, 5))
    mixed = PARTS.of_leaf(jnp.asarray(logits))
    first, second = softmax(logits[:, :2]), softmax(logits[:, 2:])
    np.testing.assert_allclose(mixed, np.concatenate([first, second], 1), rtol=1e-5)
    distribution = PARTS.distribution(mixed, NO_STD)
    action = np.stack([random.integers(2, size=30), random.integers(3, size=30)], 1)
    rows = np.arange(30)
    expected = np.log(first[rows, action[:, 0]]) + np.log(second[rows, action[:, 1]])
    found = PARTS.log_probability(distribution, jnp.asarray(action))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    entropy = -(first * np.log(first)).sum(1) - (second * np.log(second)).sum(1)
    np.testing.assert_allclose(PARTS.entropy(distribution), entropy, rtol=1e-5)
    modes = np.stack([first.argmax(1), second.argmax(1)], 1)
    np.testing.assert_array_equal(PARTS.mode(distribution), modes)


def test_samples_of_parts_come_as_often_as_they_should():
    n, policy = 40_000, np.array([0.3, 0.7, 0.0, 0.5, 0.5])
    distribution = jnp.broadcast_to(jnp.log(jnp.maximum(jnp.asarray(policy), 1e-30)), (n, 5))
    drawn = np.asarray(PARTS.sample(distribution, PARTS.noise(jax.random.key(0), (n,))))
    joint = np.histogram2d(drawn[:, 0], drawn[:, 1], bins=(2, 3), range=((0, 2), (0, 3)))[0] / n
    np.testing.assert_allclose(joint, np.outer([0.3, 0.7], [0, 0.5, 0.5]), atol=0.012)


def test_actions_come_as_often_as_the_policy_says():
    policy = np.array([0.1, 0.0, 0.6, 0.3])
    n, head = 40_000, Categorical(4)
    log_policy = jnp.broadcast_to(jnp.log(jnp.maximum(jnp.asarray(policy), 1e-30)), (n, 4))
    actions = head.sample(log_policy, head.noise(jax.random.key(0), (n,)))
    counts = np.bincount(actions, minlength=4)
    assert counts[1] == 0
    np.testing.assert_allclose(counts / n, policy, atol=4 * np.sqrt(0.25 / n))
    taken = policy[np.asarray(actions)]
    np.testing.assert_allclose(np.exp(head.log_probability(log_policy, actions)), taken, rtol=1e-5)


def test_actions_by_inversion():
    """A uniform number u picks the action whose part of the unit interval u lies in."""
    uniform = jnp.array([[0.0], [0.24], [0.25], [0.49], [0.5], [0.99]])
    log_policy = jnp.log(jnp.broadcast_to(jnp.array([0.25, 0.25, 0.5]), (6, 3)))
    assert Categorical(3).sample(log_policy, uniform).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("uniform", [1 - 2**-24, 1 - 2**-23, 1 - 2**-20])
@pytest.mark.parametrize("n", [2, 3, 10, 37])
def test_a_uniform_close_to_one_never_picks_the_impossible(uniform, n):
    """Probabilities that fall short of one by rounding, and a last action that has none."""
    policy = np.random.default_rng(n).dirichlet(np.ones(n), size=2000) * (1 - 3e-7)
    policy[:, -1] = 1e-30
    log_policy = jnp.log(jnp.asarray(policy, jnp.float32))
    actions = Categorical(n).sample(log_policy, jnp.full((2000, 1), uniform, jnp.float32))
    assert (actions < n - 1).all()
    assert jnp.isfinite(Categorical(n).log_probability(log_policy, actions)).all()


def test_epsilon_greedy():
    q = jnp.array([[1.0, 3.0, 2.0], [5.0, 0.0, -1.0]])
    policy = np.exp(EpsilonGreedy(3).distribution(q, jnp.array([0.3])))
    np.testing.assert_allclose(policy, [[0.1, 0.8, 0.1], [0.8, 0.1, 0.1]], rtol=1e-5)
    certain = EpsilonGreedy(3).distribution(q, jnp.array([0.0]))
    assert jnp.isfinite(certain).all()
    np.testing.assert_allclose(np.exp(certain), [[0, 1, 0], [1, 0, 0]], atol=1e-6)


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("tree_kind", [AxisTree, SoftTree])
def test_log_probabilities_through_a_tree_have_the_gradient_of_finite_differences(kind, tree_kind):
    """Of leaves, comparators and the deviation, for every head."""
    head = HEADS[kind]
    with jax.enable_x64(True):
        tree = tree_kind.random(balanced(4), 3, head, key=jax.random.key(0))
        tree = jax.tree.map(
            lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf, tree
        )
        random = np.random.default_rng(0)
        leaves = jnp.asarray(random.normal(size=tree.leaves.shape))
        tree = eqx.tree_at(lambda t: t.leaves, tree, leaves)
        x = jnp.asarray(random.normal(size=(3, 6)))
        log_std = jnp.full(head.n_stds, -0.4)
        of = head.distribution(tree.mix(x, head.of_leaf).T, log_std)
        action = head.sample(of, head.noise(jax.random.key(1), (6,)))
        values = [tree.leaves, tree.comparators, log_std]

        def objective(values):
            changed = eqx.tree_at(lambda t: (t.leaves, t.comparators), tree, tuple(values[:2]))
            distribution = head.distribution(changed.mix(x, head.of_leaf).T, values[2])
            log_probability = head.log_probability(distribution, action)
            return log_probability.sum() + 0.1 * head.entropy(distribution).sum()

        gradient, value_of = jax.grad(objective)(values), jax.jit(objective)
        step = 1e-5
        for which, parameter in enumerate(values):
            for at in np.ndindex(parameter.shape):
                up, down = (
                    value_of([*values[:which], parameter.at[at].add(d), *values[which + 1 :]])
                    for d in (step, -step)
                )
                measured = float(up - down) / (2 * step)
                assert float(gradient[which][at]) == pytest.approx(measured, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("kind", HEADS)
def test_numpy_and_jax_agree(kind):
    """Environments outside JAX are acted in with NumPy."""
    head, random = HEADS[kind], np.random.default_rng(0)
    outputs = random.normal(size=(20, head.n_outputs)).astype(np.float32)
    log_std = np.full(head.n_stds, -0.4, np.float32)
    noise = np.asarray(head.noise(jax.random.key(0), (20,)))

    def results(convert):
        distribution = head.distribution(head.of_leaf(convert(outputs)), convert(log_std))
        action = head.sample(distribution, convert(noise))
        log_probability = head.log_probability(distribution, action)
        return action, log_probability, head.mode(distribution), head.to_env(action)

    for one, other in zip(results(np.asarray), results(jnp.asarray), strict=True):
        assert isinstance(one, np.ndarray)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
