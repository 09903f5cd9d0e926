import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.zerglings import ACTION_NAMES, FEATURE_NAMES, codec
from crisptree.envs.zerglings.codec import ATTACK, KEEP, MOVE, View, bounds
from crisptree.envs.zerglings.rules import GRAINS

nearest_enemies = jax.jit(codec.nearest_enemies)
decode = jax.jit(codec.decode)
encode = jax.jit(codec.encode, static_argnums=2)


def view(marines, zerglings, health=(45, 45, 45), cooldown=(0, 0, 0), seen=None):
    """Units at these places; `zerglings` are (x, y, health)."""
    zerglings = np.array(zerglings, float).reshape(-1, 3)
    seen = np.ones(len(zerglings), bool) if seen is None else np.array(seen)
    return View(
        marine_xy=jnp.asarray(np.array(marines).T * GRAINS, jnp.int32),
        marine_health=jnp.array(health, jnp.float32),
        marine_cooldown=jnp.array(cooldown, jnp.float32),
        zergling_xy=jnp.asarray(zerglings[:, :2].T * GRAINS, jnp.int32),
        zergling_health=jnp.asarray(zerglings[:, 2], jnp.float32),
        visible=jnp.asarray(seen),
    )


SCENE = view(
    marines=[(30, 28), (31, 28), (30, 31.5)],
    zerglings=[(30, 20, 35), (36, 28, 7), (25.5, 28, 35), (33, 28, 35), (30, 36, 0)],
    health=(45, 9, 27),
    cooldown=(0, 6.8864, 20),
    seen=[True, True, False, True, True],
)


def test_names_count():
    assert (len(FEATURE_NAMES), len(ACTION_NAMES)) == (37, 10)
    assert len(set(FEATURE_NAMES)) == 37


def test_enemies_are_ranked_by_nearness_and_only_if_seen_and_alive():
    np.testing.assert_array_equal(
        nearest_enemies(SCENE), [[3, 1, 0, -1, -1], [3, 1, 0, -1, -1], [3, 1, 0, -1, -1]]
    )
    tie = view([(30, 28)] * 3, [(33, 28, 35), (27, 28, 35), (30, 31, 35)])
    np.testing.assert_array_equal(nearest_enemies(tie)[0], [0, 1, 2, -1, -1])


def test_the_paper_s_encoding():
    rows = np.asarray(encode(SCENE, nearest_enemies(SCENE), "paper"))
    nothing = [-1] * 5
    first = [-2, 0, 1, 0, 1, 0, 0.2, 0.5, 0, 3.5, 0.6, 1]
    enemies = [3, 0, 1, 0, 0, 6, 0, 0.2, 0, 0, 0, -8, 1, 0, 0]
    np.testing.assert_allclose(rows[0], first + enemies + nothing * 2, atol=1e-4)
    np.testing.assert_allclose(rows[1, :8], [-1, 0, 0.2, 0.5, -1, 0, 1, 0], atol=1e-4)


def test_the_raw_encoding():
    rows = np.asarray(encode(SCENE, nearest_enemies(SCENE), "raw"))
    first = [30, 28, 45, 0, 31, 28, 9, 6.8864, 30, 31.5, 27, 20]
    enemies = [33, 28, 35, 0, 0, 36, 28, 7, 0, 0, 30, 20, 35, 0, 0]
    np.testing.assert_allclose(rows[0], first + enemies + [-1] * 10, atol=1e-4)


def test_the_dead_are_missing():
    scene = view([(30, 28), (31, 28), (30, 31)], [(33, 28, 35)], health=(0, 45, 45))
    rows = np.asarray(encode(scene, nearest_enemies(scene), "paper"))
    assert (rows[0] == -1).all()
    np.testing.assert_allclose(rows[1, 4:12], [-1, 3, 1, 0, -1, -1, -1, -1])
    empty = view([(30, 28)] * 3, [(33, 28, 35)], seen=[False])
    assert (np.asarray(encode(empty, nearest_enemies(empty), "paper"))[:, 12:] == -1).all()


@pytest.mark.parametrize("encoding", ["paper", "raw"])
def test_bounds_hold(encoding):
    low, high = bounds(encoding)
    corners = view(
        [(10, 12), (54, 44), (54, 12)], [(54, 44, 35), (10, 12, 1)], cooldown=(14.7, 0, 1)
    )
    rows = np.asarray(encode(corners, nearest_enemies(corners), encoding))
    assert (rows >= low).all() and (rows <= high).all()


def test_the_ten_actions():
    xy = jnp.asarray(np.array([(30, 28)] * 12).T * GRAINS, jnp.int32)
    nearest = jnp.array([[7, 3, 9, -1, -1]] * 12)
    orders = decode(xy, nearest, jnp.arange(-1, 11))
    kinds = [KEEP] + [MOVE] * 4 + [ATTACK] * 3 + [KEEP] * 4
    np.testing.assert_array_equal(orders.kind, kinds)
    goals = np.asarray(orders.xy).T[1:5] / GRAINS
    np.testing.assert_array_equal(goals, [(30, 33), (35, 28), (25, 28), (30, 23)])
    np.testing.assert_array_equal(orders.target[5:8], [7, 3, 9])


def test_moves_end_at_the_edge_of_the_arena():
    xy = jnp.asarray(np.array([(30, 43), (52, 20), (10, 20), (30, 12.5)]).T * GRAINS, jnp.int32)
    orders = decode(xy, jnp.full((4, 5), -1), jnp.arange(4))
    goals = np.asarray(orders.xy).T / GRAINS
    np.testing.assert_array_equal(goals, [(30, 44), (54, 20), (10, 20), (30, 12)])
