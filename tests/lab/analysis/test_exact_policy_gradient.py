import itertools
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.critical_points import find_zeros, phi_grid
from crisptree.lab.analysis.exact_policy_gradient import Discounting, evaluate, policy_gradient

DISCOUNTINGS = get_args(Discounting)
SETTINGS = (
    PAPER,
    Setting(n=5, istar=3, p=0.8, gamma=0.7, alpha=3.0, r_minus=-0.5, horizon=5),
    Setting(n=6, istar=2, p=0.3, gamma=0.9, alpha=2.0, r_plus=2.0, leaf_probability=0.8),
    Setting(horizon=1),
)


def soft_policy(setting, phi, state, action):
    """π(s, a), Eq. 14 with the leaves of §5.2."""
    mu = 1 / (1 + jnp.exp(-setting.alpha * (state - phi)))
    right = mu * (1 - setting.leaf_probability) + (1 - mu) * setting.leaf_probability
    return jnp.where(action == 1, right, 1 - right)


def trajectories(setting, start):
    """Every path: states, actions (0 in a terminal state), chance of its transitions alone."""
    paths = []
    stack = [([start], [], 1.0)]
    while stack:
        states, actions, chance = stack.pop()
        if states[-1] in (1, setting.n):
            paths.append((states, [*actions, 0], chance))
        elif len(states) == setting.horizon:
            paths += [(states, [*actions, a], chance) for a in (1, 2)]
        else:
            for action, (onward, p) in itertools.product(
                (1, 2), ((1, setting.p), (-1, 1 - setting.p))
            ):
                successor = states[-1] + (onward if action == 1 else -onward)
                stack.append(([*states, successor], [*actions, action], chance * p))
    return paths


def enumerated(setting, start, discounting):
    """φ ↦ Σ over paths of P(path) Σ_t A_t log π, whose gradient (P held still) is the update."""
    paths = trajectories(setting, start)
    T = setting.horizon
    states, actions, advantages = (np.zeros((len(paths), T)) for _ in range(3))
    for row, (visited, taken, _) in enumerate(paths):
        rewards = [setting.rewards[s - 1] for s in visited]
        states[row, : len(visited)] = visited
        actions[row, : len(taken)] = taken
        for t in range(len(visited)):
            for later in range(t, len(visited)):
                power = {"to-go": later - t, "from-start": later, "as-printed": T - 1 - later}
                advantages[row, t] += setting.gamma ** power[discounting] * rewards[later]
    chances = np.array([chance for _, _, chance in paths])

    def surrogate(phi):
        pi = jnp.where(actions > 0, soft_policy(setting, phi, states, actions), 1.0)
        probability = jax.lax.stop_gradient(chances * pi.prod(1))
        return (probability * (advantages * jnp.log(pi)).sum(1)).sum()

    return surrogate


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("discounting", DISCOUNTINGS)
def test_the_update_is_the_one_over_all_trajectories(setting, discounting):
    phis = np.linspace(-1, setting.n + 2, 41)
    for start in (2, setting.n - 1):
        with jax.enable_x64(True):
            surrogate = enumerated(setting, start, discounting)
            expected = np.asarray(jax.vmap(jax.grad(surrogate))(jnp.asarray(phis)))
        found = policy_gradient(setting, start, discounting)(phis).total
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def value(setting, start):
    """φ ↦ V of the soft policy, by a backward pass in JAX."""
    states = np.arange(1, setting.n + 1)

    def back_from(phi):
        right = soft_policy(setting, phi, states, 1)[1:-1]
        right = setting.p * right + (1 - setting.p) * (1 - right)

        def back(now, _):
            moved = right * now[2:] + (1 - right) * now[:-2]
            return setting.rewards + setting.gamma * jnp.pad(moved, 1), None

        return jax.lax.scan(back, jnp.zeros(setting.n), length=setting.horizon)[0][start - 1]

    return back_from


@pytest.mark.parametrize(
    "setting",
    [*SETTINGS, Setting(n=200, istar=101, horizon=300, alpha=4.0, p=0.95, gamma=0.99)],
)
def test_discounted_from_the_start_it_is_the_gradient_of_the_value(setting):
    start = setting.istar + 1
    phis = np.linspace(setting.istar - 3, setting.istar + 4, 71)
    with jax.enable_x64(True):
        both = jax.vmap(jax.value_and_grad(value(setting, start)))(jnp.asarray(phis))
        expected_value, expected_update = map(np.asarray, both)
    (found,) = evaluate(setting, phis, (start,), "from-start")
    np.testing.assert_allclose(found.value, expected_value, rtol=1e-10)
    np.testing.assert_allclose(found.update.total, expected_update, rtol=1e-8, atol=1e-12)


def test_values_do_not_depend_on_how_advantages_are_discounted():
    phis = phi_grid(PAPER, 0.0, 5.0)
    (to_go,), (from_start,) = (
        evaluate(PAPER, phis, (2,), name) for name in ("to-go", "from-start")
    )
    np.testing.assert_array_equal(to_go.value, from_start.value)


def test_a_chain_and_its_mirror_image():
    phis = np.linspace(-1, 8, 301)
    setting, mirrored = Setting(n=6, istar=2, p=0.9), Setting(n=6, istar=4, p=0.9)
    (found,) = evaluate(setting, phis, (3,))
    (other,) = evaluate(mirrored, 7 - phis, (4,))
    np.testing.assert_allclose(found.value, other.value, rtol=1e-12)
    np.testing.assert_allclose(found.update.total, -other.update.total, rtol=1e-9, atol=1e-300)


def test_a_coin_toss_teaches_nothing():
    (found,) = evaluate(Setting(p=0.5), np.linspace(0, 5, 51), (2,))
    np.testing.assert_array_equal(found.update.total, 0)


def test_pieces_do_not_show():
    phis = np.linspace(-2, 7, 1000)
    whole = policy_gradient(PAPER, 2)(phis).total
    single = [policy_gradient(PAPER, 2)(phis[i : i + 1]).total[0] for i in range(0, 1000, 97)]
    np.testing.assert_array_equal(whole[::97], single)
    assert len(policy_gradient(PAPER, 2)(phis[:0]).total) == 0


def zeros(setting, start, discounting: Discounting = "to-go"):
    grid = phi_grid(setting, -2.0, setting.n + 3.0)
    rule = policy_gradient(setting, start, discounting)
    return find_zeros(rule, grid, rule(grid).balance)


def test_the_papers_critical_points_with_its_starts_exchanged():
    (from_2,), (from_3,) = zeros(PAPER, 2), zeros(PAPER, 3)
    assert abs(from_2.phi - 2.5347) < 5e-5
    assert abs(from_3.phi - 2.4653) < 5e-5
    assert abs((from_2.phi + from_3.phi) / 2 - 2.5) < 1e-9
    assert from_2.kind == "smooth"
    assert from_2.attracts


@pytest.mark.parametrize("discounting", DISCOUNTINGS)
def test_the_papers_critical_point_hardly_depends_on_the_discounting(discounting):
    (zero,) = zeros(PAPER, 2, discounting)
    assert abs(zero.phi - 2.5347) < 1e-3


@pytest.mark.parametrize("alpha, place", [(5.0, 2.577), (1.0, 3.256)])
def test_a_gentler_slope_moves_it(alpha, place):
    (zero,) = zeros(Setting(alpha=alpha), 2)
    assert abs(zero.phi - place) < 1e-3


def test_a_terminal_start_is_refused():
    with pytest.raises(CrisptreeError, match="start is 1"):
        evaluate(PAPER, np.zeros(1), (1,))
