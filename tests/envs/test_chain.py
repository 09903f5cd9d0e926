import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.chain import Chain
from crisptree.envs.functional import FunctionalEnv
from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.exact_q_learning import crisp_values

KEY = jax.random.key(0)


def crisp_return(chain: Chain, phi: float, gamma: float, key) -> float:
    """R(s0) + γ times the discounted return of the tree `s > φ ? a2 : a1`."""
    state, observation = chain.reset(key)
    total, discount, done = 0.0, gamma, False
    while not done:
        key, now = jax.random.split(key)
        step = chain.step(now, state, jnp.asarray(observation[0] > phi, jnp.int32))
        total += discount * float(step.reward)
        discount *= gamma
        state, observation = step.state, step.observation
        done = bool(step.terminated | step.truncated)
    return total


def test_it_is_a_functional_environment():
    assert isinstance(Chain(), FunctionalEnv)


@pytest.mark.parametrize("n, istar, horizon", [(4, 2, 4), (7, 3, 9)])
def test_returns_are_the_values_of_the_analysis(n, istar, horizon):
    setting = Setting(n=n, istar=istar, horizon=horizon)
    for start, phi in itertools.product(range(2, n), range(n + 1)):
        chain = Chain(n=n, istar=istar, horizon=horizon, start=start)
        paid = setting.rewards[start - 1] + crisp_return(chain, phi, setting.gamma, KEY)
        np.testing.assert_allclose(paid, crisp_values(setting, start)[phi], rtol=1e-6)


def test_moves_go_astray_as_often_as_p_says():
    chain = Chain(n=9, istar=4, p=0.7, start=5)
    state, _ = chain.reset(KEY)
    keys = jax.random.split(KEY, 4000)
    for action, onward in ((0, 1), (1, -1)):
        positions = jax.vmap(lambda k, a=action: chain.step(k, state, jnp.asarray(a)))(keys)
        moves = np.asarray(positions.observation[:, 0]) - 5
        assert set(moves) == {-1.0, 1.0}
        # Four standard errors of 4000 draws.
        assert abs((moves == onward).mean() - 0.7) < 4 * (0.7 * 0.3 / 4000) ** 0.5


def test_ends_and_rewards():
    chain = Chain(n=5, istar=2, r_plus=2.0, r_minus=-3.0, horizon=3, start=3)
    state, observation = chain.reset(KEY)
    assert observation.tolist() == [3.0]
    right = chain.step(KEY, state, jnp.asarray(0))
    assert (float(right.reward), bool(right.terminated), bool(right.truncated)) == (0, False, False)
    end = chain.step(KEY, right.state, jnp.asarray(0))
    assert (float(end.reward), bool(end.terminated), bool(end.truncated)) == (-3, True, True)
    left = chain.step(KEY, state, jnp.asarray(1))
    assert (float(left.reward), bool(left.terminated)) == (2, False)


def test_starts_in_the_middle_pair_with_equal_chance():
    keys = jax.random.split(KEY, 2000)
    _, observation = jax.vmap(Chain(n=8, istar=4).reset)(keys)
    starts = np.asarray(observation[:, 0])
    assert set(starts) == {4.0, 5.0}
    assert abs((starts == 4).mean() - 0.5) < 4 * (0.25 / 2000) ** 0.5


@pytest.mark.parametrize(
    "wrong, word",
    [
        ({"n": 3}, "n is 3"),
        ({"istar": 3}, "istar is 3"),
        ({"p": 1.5}, "p is 1.5"),
        ({"horizon": 1}, "horizon is 1"),
        ({"start": 4}, "start is 4"),
    ],
)
def test_a_wrong_chain_is_named(wrong, word):
    with pytest.raises(CrisptreeError, match=word):
        Chain(**wrong)
