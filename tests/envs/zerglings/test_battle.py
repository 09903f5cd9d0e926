import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.zerglings.battle import IDLE, Marines, Zerglings, game_loop
from crisptree.envs.zerglings.codec import ATTACK, MOVE
from crisptree.envs.zerglings.rules import GRAINS, MARINE, ZERGLING

AWAY = [(12.0, 14.0), (12.0, 40.0)]
"""Where the two marines stand that a test does not look at."""


def grains(places):
    return jnp.asarray(np.rint(np.array(places, float).T * GRAINS), jnp.int32)


def scene(marine=(32.0, 28.0), zergling=(50.0, 28.0), order=IDLE, goal=(0.0, 0.0), target=0):
    """One marine with an order, one zergling."""
    marines = Marines(
        xy=grains([marine, *AWAY]),
        health=jnp.full(3, 45.0),
        cooldown=jnp.zeros(3),
        rifle_up=jnp.ones(3, bool),
        order=jnp.array([order, IDLE, IDLE]),
        order_xy=grains([goal, *AWAY]),
        order_target=jnp.array([target, -1, -1]),
    )
    zerglings = Zerglings(
        xy=grains([zergling]),
        health=jnp.full(1, 35.0),
        cooldown=jnp.zeros(1),
        prey=jnp.full(1, -1),
    )
    return marines, zerglings


@partial(jax.jit, static_argnames="acquisition")
def loop(marines, zerglings, jitter=0.0, acquisition=5.0):
    return game_loop(marines, zerglings, jnp.zeros(3) + jitter, jnp.zeros(1), acquisition)


def play(units, n):
    for _ in range(n):
        units = loop(*units)
    return units


def place(units):
    return np.asarray(units[0].xy)[:, 0] / GRAINS, np.asarray(units[1].xy)[:, 0] / GRAINS


def test_one_marine_kills_a_zergling_with_seven_shots():
    """One at once and one every ceil(13.77) = 14 loops. Six would do but for its regeneration:
    35 - 6 · 6 + 70 · 0.27 / 16 > 0."""
    units = scene(zergling=(37.7, 28.0))
    hits = []
    for n in range(90):
        before = float(units[1].health[0])
        units = loop(*units)
        if float(units[1].health[0]) < before:
            hits.append(n)
    assert hits == [0, 14, 28, 42, 56, 70, 84]
    assert units[1].health[0] == 0


def test_a_zergling_runs_bites_and_kills_a_marine_that_does_not_shoot():
    # It arrives after (5 - 0.85) / 0.1846 loops, swings, then bites each ceil(11.14) loops.
    arrival = math.ceil((5 - 0.85) / ZERGLING.speed)
    marines, zerglings = scene(zergling=(37.0, 28.0))
    units = marines._replace(cooldown=jnp.full(3, 1e6)), zerglings
    bites = []
    for n in range(arrival + 130):
        before = float(units[0].health[0])
        units = loop(*units)
        if float(units[0].health[0]) < before:
            bites.append(n)
    assert len(bites) == 9 and units[0].health[0] == 0
    assert arrival + 1 <= bites[0] <= arrival + 4
    assert set(np.diff(bites)) == {12}


def test_a_marine_walks_to_its_goal_and_is_idle_there():
    units = scene(order=MOVE, goal=(32.0, 33.0))
    loops = math.ceil(5 / MARINE.speed)
    units = play(units, loops - 1)
    assert units[0].order[0] == MOVE and place(units)[0][1] < 33
    units = play(units, 1)
    assert units[0].order[0] == IDLE
    np.testing.assert_array_equal(place(units)[0], [32, 33])


def test_a_rifle_is_raised_first():
    marines, zerglings = scene(zergling=(36.0, 28.0))
    units = loop(marines._replace(rifle_up=jnp.zeros(3, bool)), zerglings)
    assert units[1].health[0] == 35
    assert loop(*units)[1].health[0] < 35


@pytest.mark.parametrize(("order", "hurt"), [(IDLE, True), (MOVE, False)])
def test_an_idle_marine_shoots_and_a_moving_one_does_not(order, hurt):
    units = loop(*scene(zergling=(36.0, 28.0), order=order, goal=(10.0, 28.0)))
    assert (units[1].health[0] < 35) == hurt


def test_an_ordered_marine_walks_up_and_shoots_from_its_reach():
    units = play(scene(zergling=(40.0, 28.0), order=ATTACK), 8)
    marine, zergling = place(units)
    assert marine[0] > 33 and zergling[0] == 40 and units[1].health[0] == 35
    units = play(units, 10)
    assert units[1].health[0] < 35


def test_orders_on_what_is_dead_or_out_of_sight_are_dropped():
    assert loop(*scene(zergling=(41.1, 28.0), order=ATTACK))[0].order[0] == IDLE
    assert loop(*scene(zergling=(40.9, 28.0), order=ATTACK))[0].order[0] == ATTACK
    marines, zerglings = scene(zergling=(36.0, 28.0), order=ATTACK)
    assert loop(marines, zerglings._replace(health=jnp.zeros(1)))[0].order[0] == IDLE


@pytest.mark.parametrize(("distance", "goes"), [(5.74, True), (5.80, False)])
def test_a_zergling_stands_until_a_marine_is_near(distance, goes):
    marines, zerglings = scene(zergling=(32.0 + distance, 28.0), order=MOVE, goal=(32.0, 28.0))
    disarmed = marines._replace(cooldown=jnp.full(3, 99.0))
    _, after = loop(disarmed, zerglings)
    assert (int(after.prey[0]) == 0) == goes
    assert (int(after.xy[0, 0]) < int(zerglings.xy[0, 0])) == goes


def test_a_zergling_that_is_shot_goes_for_the_shooter():
    marines, zerglings = scene(zergling=(37.0, 28.0))
    _, after = loop(marines, zerglings, acquisition=1.0)
    assert after.prey[0] == 0


def test_prey_that_died_is_forgotten():
    marines, zerglings = scene(zergling=(33.0, 28.0))
    dead = marines._replace(health=jnp.array([0.0, 45, 45]))
    assert loop(dead, zerglings._replace(prey=jnp.array([0])))[1].prey[0] == -1


def test_marines_do_not_stand_in_each_other():
    marines, zerglings = scene()
    crowd = marines._replace(xy=grains([(32, 28), (32.2, 28), (32, 28.3)]))
    xy = np.asarray(play((crowd, zerglings), 40)[0].xy).T / GRAINS
    gaps = [np.linalg.norm(xy[i] - xy[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert min(gaps) > 0.74


def test_jitter_lengthens_the_wait():
    marines, zerglings = scene(zergling=(36.0, 28.0))
    after, _ = loop(marines, zerglings, jitter=2.0)
    assert after.cooldown[0] == pytest.approx(MARINE.period + 2 - 1)
