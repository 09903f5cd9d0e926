from dataclasses import replace

import numpy as np
import pytest
from cartpole_trees import GOOD, TASK, cartpole
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from crisptree.crispen import distill as module
from crisptree.crispen.distill import distill, fit_cart
from crisptree.crispen.select import Selection
from crisptree.envs.spaces import Task

THREE = Task("Some-v0", 3, 3, ("a", "b", "c"), ("left", "stay", "right"))


def teacher(states: np.ndarray) -> np.ndarray:
    """Balances by a rule that is no axis-aligned tree."""
    return (states[:, 2] + 0.5 * states[:, 3] > 0).astype(np.int64)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 24), st.integers(1, 400))
def test_cart_is_scikit_learns(seed, n_leaves, n):
    """On every training state, and one float beside every threshold that CART chose."""
    random = np.random.default_rng(seed)
    states = random.normal(0, 10 ** random.uniform(-3, 3, 3), size=(n, 3)).astype(np.float32)
    states[:, 2] = np.round(states[:, 2])
    actions = (random.random((n, 3)) + 0.3 * np.sign(states)).argmax(1)
    tree = fit_cart(states, actions, n_leaves, THREE, seed)
    cart = DecisionTreeClassifier(max_leaf_nodes=n_leaves, min_samples_leaf=5, random_state=seed)
    cart.fit(states, actions)
    assert tree.n_leaves <= n_leaves
    asked = [states]
    for feature, threshold in zip(cart.tree_.feature, cart.tree_.threshold, strict=True):
        if feature >= 0:
            at = states[:5].copy()
            nearest = np.float32(threshold)
            below, above = (np.nextafter(nearest, np.float32(to)) for to in (-np.inf, np.inf))
            for value in (below, nearest, above):
                at[:, feature] = value
                asked.append(at.copy())
    asked = np.concatenate(asked)
    assert tree.predict(asked)[0].tolist() == cart.predict(asked).tolist()


def test_a_fitted_tree_has_the_tasks_names_and_thresholds_of_float32():
    states = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    tree = fit_cart(states, (states[:, 1] > 0.123).astype(int) * 2, 8, THREE, 0)
    assert tree.feature_names == THREE.feature_names
    assert tree.action_names == THREE.action_names
    assert tree.env_id == "Some-v0"
    assert (tree.threshold == np.float32(tree.threshold)).all()
    assert tree.n_leaves == 2
    assert set(tree.action[tree.action >= 0]) == {0, 2}  # actions, not classes of CART


def test_one_action_everywhere_is_a_leaf():
    states = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    assert fit_cart(states, np.full(50, 2), 8, THREE, 0).action.tolist() == [2]


@pytest.fixture(scope="module")
def distilled():
    told: list[tuple[int, float]] = []
    selection = Selection("CartPole-v1", 3)
    done = distill(
        teacher,
        TASK,
        8,
        selection,
        seed=1,
        rounds=4,
        episodes=16,
        report=lambda round_, score: told.append((round_, score)),
    )
    return done, told, selection


def test_a_scripted_teacher_of_cartpole_is_matched(distilled):
    done, _, selection = distilled
    assert done.tree.n_leaves <= 8
    assert done.selection_return > 450
    assert np.mean(selection.returns([done.tree], 128)[0]) > 450
    assert 0.85 < done.agreement <= 1


def test_every_round_is_reported_the_teachers_first(distilled):
    _, told, _ = distilled
    assert [round_ for round_, _ in told] == [0, 1, 2, 3, 4]
    assert told[0][1] == 500  # the teacher's own


def test_the_same_seed_gives_the_same_tree(distilled):
    done, *_ = distilled
    selection = Selection("CartPole-v1", 3)
    again = distill(teacher, TASK, 8, selection, seed=1, rounds=4, episodes=16)
    assert again.tree.to_dict() == done.tree.to_dict()
    assert again[1:] == done[1:]


def test_a_tree_as_a_teacher_is_copied():
    """Nothing is lost where the teacher is a tree of the same size."""
    done = distill(
        lambda states: np.asarray(GOOD.predict(states)[0]),
        TASK,
        4,
        Selection("CartPole-v1", 0),
        seed=0,
        rounds=3,
        episodes=16,
    )
    assert done.agreement > 0.99
    assert done.tree.n_leaves <= 4
    assert done.selection_return == 500


def test_states_are_those_the_tree_meets_and_labels_the_teachers():
    """The first states are the teacher's, further ones each tree's own; none is forgotten."""
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    def fit(states, actions, n_leaves, task, seed):
        seen.append((states, actions))
        return cartpole(0) if len(seen) == 1 else GOOD

    done = distill(
        teacher, TASK, 4, Selection("CartPole-v1", 0), seed=0, rounds=3, episodes=4, fit=fit
    )
    lengths = [len(states) for states, _ in seen]
    assert lengths[0] == 4 * 500  # the teacher balances
    assert 4 * 8 <= lengths[1] - lengths[0] <= 4 * 11  # always left: about ten steps
    assert lengths[2] - lengths[1] == 4 * 500
    for states, actions in seen:
        assert actions.tolist() == teacher(states).tolist()
        np.testing.assert_array_equal(states[: lengths[0]], seen[0][0])
    # of the three trees the one that falls is not chosen
    assert done.tree is GOOD
    states = seen[-1][0]
    agreement = (GOOD.predict(states)[0] == teacher(states)).mean()
    assert done.agreement == pytest.approx(agreement, abs=0.05)


def test_only_training_episodes_are_seen(monkeypatch):
    """The states a tree is fitted to come from training's range of seeds, fresh every round."""
    firsts: list[int] = []
    adapter = module.host_envs

    def recorded(env_id, n_envs):
        envs = adapter(env_id, n_envs)
        reset = envs.reset
        envs.reset = lambda seed: firsts.append(seed) or reset(seed)
        return envs

    monkeypatch.setattr(module, "host_envs", recorded)
    selection = Selection("CartPole-v1", 0)
    fit = lambda *_: cartpole(0)
    distill(
        lambda s: np.zeros(len(s), int), TASK, 4, selection, seed=5, rounds=3, episodes=8, fit=fit
    )
    assert len(set(firsts)) == 4
    assert all(0 <= first < 2**29 - 7 for first in firsts)


def test_a_task_without_a_twin_in_jax():
    """Through the host environments of any id."""
    task = replace(TASK, env_id="CartPole-v0")
    selection = Selection("CartPole-v0", 0)
    done = distill(teacher, task, 4, selection, seed=0, rounds=2, episodes=8, finalists=1)
    assert done.selection_return > 150
    assert done.tree.env_id == "CartPole-v0"
