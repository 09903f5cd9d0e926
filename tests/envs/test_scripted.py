"""The calibration: simple policies score what they should. Bars of 300 episodes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs import scripted
from crisptree.envs.wildfire.env import Wildfire
from crisptree.envs.zerglings.env import FindAndDefeatZerglings

WILDFIRE_BARS = {
    "random": (-87, 5),
    "nearest fire": (-34, 4),
    "north and west only": (-46, 5),
    "coordinated": (-26, 4),
}
ZERGLINGS_BARS = {
    "nothing": (0, 0.3),
    "random": (-1.7, 0.7),
    "attack, else south-west": (8.7, 2),
}


def all_returns(env, policies, episodes, steps):
    """Policy by episode; the environment is compiled once for all of them."""

    def of(which):
        def policy(key, seen):
            return jax.lax.switch(which, list(policies.values()), key, seen)

        return scripted.returns(env, policy, jax.random.key(0), episodes=episodes, steps=steps)

    found = np.asarray(jax.lax.map(of, jnp.arange(len(policies))))
    return dict(zip(policies, found, strict=True))


def test_wildfire():
    returns = all_returns(Wildfire(), scripted.WILDFIRE, 300, 120)
    for name, (mean, slack) in WILDFIRE_BARS.items():
        assert returns[name].mean() == pytest.approx(mean, abs=slack), name


@pytest.mark.parametrize("episodes", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_zerglings(episodes):
    returns = all_returns(FindAndDefeatZerglings(), scripted.ZERGLINGS, episodes, 360)
    for name, (mean, slack) in ZERGLINGS_BARS.items():
        assert returns[name].mean() == pytest.approx(mean, abs=slack), name
    patrol = returns["attack, else patrol"]
    assert patrol.mean() >= 35 and patrol.max() <= 56


def row(**named):
    from crisptree.envs.zerglings import FEATURE_NAMES

    values = dict.fromkeys(FEATURE_NAMES, -1.0) | {k.replace("_", " "): v for k, v in named.items()}
    return list(values.values())


@pytest.mark.parametrize(
    ("x", "y", "action"),
    [(0, 0, 3), (0, -10, 1), (16, -10, 0), (16, 0, 0), (16, 10, 2), (0, 10, 2), (-16, 10, 3)],
)
def test_the_patrol_goes_round_against_the_clock(x, y, action):
    seen = jnp.array([row(own_x=x, own_y=y)] * 2 + [row(own_x=x, own_y=y, enemy_1_health=0.1)])
    moves = scripted.attack_else_patrol(jax.random.key(0), seen)
    np.testing.assert_array_equal(moves, [action, action, 4])


def test_drones_fly_to_the_fire_they_chose():
    both = jnp.array([[100.0, 10, 1, -300, 0, 0], [50, -200, 1, -20, -500, 0]])
    np.testing.assert_array_equal(scripted.nearest_fire(jax.random.key(0), both), [0, 1])
    np.testing.assert_array_equal(scripted.north_west(jax.random.key(0), both), [0, 0])
    np.testing.assert_array_equal(scripted.coordinated(jax.random.key(0), both), [2, 1])
    there = jnp.array([[1.0, -2, 1, -300, 0, 0]] * 2)
    np.testing.assert_array_equal(scripted.nearest_fire(jax.random.key(0), there), [4, 4])
