from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from cartpole_trees import ANGLE, LEFT, POSITION, RIGHT, SPIN, TASK, VELOCITY
from plain_task import box_task, plain_task

from crisptree.crisp import CrispTree
from crisptree.crisp.derived import derived_feature
from crisptree.crispen.config import DeriveConfig
from crisptree.crispen.derive import _Choice, derive, only_asked
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.harden import harden
from crisptree.crispen.soften import soften
from crisptree.envs.policy import FunctionPolicy
from crisptree.envs.rollout import rollout
from crisptree.learn.moments import Moments
from crisptree.soft.model import as_is
from crisptree.soft.numpy_models import numpy_mix

LEAN = derived_feature(((SPIN, 1.0), (ANGLE, 3.1)), TASK.features)
DRIFT = derived_feature(((VELOCITY, 1.0), (POSITION, -0.5)), TASK.features)
RICH = replace(TASK, features=(*TASK.features, LEAN, DRIFT))
BALANCING = CrispTree.from_nested(
    (LEAN.name, 0.0, RIGHT, (DRIFT.name, 9.0, RIGHT, LEFT)), **RICH.signature
)
ROWS = np.random.default_rng(0).normal(size=(6000, 3))


def choice(task, actions, **settings) -> tuple[tuple[tuple[int, float], ...], ...]:
    found = _Choice(ROWS, actions, 4, task, DeriveConfig(**settings)).made()
    return tuple(feature.terms for feature in found)


def test_the_sum_that_decides_is_found():
    task = plain_task(["a", "b", "c"], ["no", "yes"])
    (terms,) = choice(task, (ROWS[:, 1] - 0.5 * ROWS[:, 0] > 0.2).astype(int))
    assert [feature for feature, _ in terms] == [1, 0]
    np.testing.assert_allclose([weight for _, weight in terms], [1, -0.5], atol=0.02)


def test_real_actions_have_sums_too():
    task = box_task(["a", "b", "c"], [-4.0], [4.0])
    (terms, *_) = choice(task, (ROWS[:, 2] + 0.25 * ROWS[:, 0])[:, None], terms=2)
    assert [feature for feature, _ in terms] == [2, 0]
    np.testing.assert_allclose([weight for _, weight in terms], [1, 0.25], atol=0.02)


def test_what_a_plain_question_tells_needs_no_sum():
    task = plain_task(["a", "b", "c"], ["no", "yes"])
    assert choice(task, (ROWS[:, 1] > 0.2).astype(int)) == ()


def test_a_sum_that_is_too_dear_is_left_out():
    task = plain_task(["a", "b", "c"], ["no", "yes"])
    decided = (ROWS[:, 1] - 0.5 * ROWS[:, 0] > 0.2).astype(int)
    assert choice(task, decided, price=1.5) == ()


def test_flags_are_not_summed():
    task = plain_task(["a", "b", "c"], ["no", "yes"])
    flag = replace(task.features[0], kind="flag")
    task = replace(task, features=(flag, *task.features[1:]))
    assert choice(task, (ROWS[:, 1] - 0.5 * ROWS[:, 0] > 0.2).astype(int)) == ()


def test_two_leaves_balance_with_what_was_derived():
    teacher = FunctionPolicy(lambda x: (x[:, SPIN] + 3 * x[:, ANGLE] > 0).astype(np.int64))
    found = derive(teacher, TASK, 2, DeriveConfig(rounds=2), seed=0, episodes=8)
    assert found
    task = replace(TASK, features=(*TASK.features, *found))
    states = np.random.default_rng(0).normal(0, 0.2, size=(4000, 4)).astype(np.float32)
    tree = fit_cart(states, teacher.act(states), None, 2, task, 0)
    assert tree.n_leaves == 2 and tree.feature[0] >= 4
    assert rollout([tree], TASK, range(20), fast=True).returns.mean() > 450


def test_softened_and_hardened_again_it_asks_the_same():
    moments = Moments(
        jnp.array([0.1, -0.2, 0.0, 0.3]), jnp.array([4.0, 1, 0.01, 0.5]), jnp.ones(())
    )
    again = harden(soften(BALANCING, moments), moments, RICH)
    assert again.features == BALANCING.features
    assert again.feature[again.feature >= 0].tolist() == [4, 5]
    np.testing.assert_allclose(again.threshold[:2], [0.0, 9.0], atol=1e-5)


def test_a_steep_soft_tree_goes_where_the_crisp_one_goes():
    states = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    moments = Moments(jnp.zeros(4), jnp.array([4.0, 1, 0.01, 0.5]), jnp.ones(()))
    soft = soften(BALANCING, moments, steepness=1e4)
    standard = moments.standardize(jnp.asarray(states))
    here = (jnp.abs(standard) < 10).all(1)
    mixed = soft.mix(standard.T).T
    crisp = BALANCING.act(states)
    np.testing.assert_array_equal(np.asarray(mixed.argmax(1))[here], crisp[here])
    stacked = jax.tree.map(lambda part: part[None], eqx.filter(soft, eqx.is_array))
    stacked = eqx.combine(stacked, soft)
    in_numpy = numpy_mix(stacked, as_is)(np.asarray(standard)[None])[0]
    np.testing.assert_allclose(in_numpy, mixed, rtol=1e-4, atol=1e-5)


def test_the_weights_of_sums_do_not_learn():
    soft = soften(BALANCING, Moments.empty((4,)))
    slope = eqx.filter_grad(lambda tree: tree.mix(jnp.ones(4)).sum())(soft)
    assert not jnp.any(slope.sums)


def test_what_is_never_asked_for_is_left_out():
    states = np.random.default_rng(0).normal(size=(100, 4))
    tree = CrispTree.from_nested((DRIFT.name, 0.0, RIGHT, LEFT), **RICH.signature)
    fewer = only_asked(tree)
    assert fewer.features == (*TASK.features, DRIFT)
    np.testing.assert_array_equal(fewer.act(states), tree.act(states))
    assert only_asked(BALANCING) is BALANCING


def test_trees_with_other_sums_play_side_by_side():
    other = CrispTree.from_nested(
        (LEAN.name, 0.05, RIGHT, LEFT), **{**TASK.signature, "features": (*TASK.features, LEAN)}
    )
    plain = CrispTree.from_nested((ANGLE, 0.0, RIGHT, LEFT), **TASK.signature)
    trees = [BALANCING, plain, other]
    # Without `fast` in Gymnasium by NumPy, with it in one compiled program of JAX.
    together = rollout(trees, TASK, range(8)).returns
    alone = [rollout([tree], TASK, range(8)).returns[0] for tree in trees]
    np.testing.assert_array_equal(together, alone)
    fast = rollout(trees, TASK, range(64), fast=True).returns.mean(1)
    assert fast[0] > 450 and fast[1] < 100
