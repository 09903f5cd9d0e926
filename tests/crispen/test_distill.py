import numpy as np
import pytest
from cartpole_trees import GOOD, TASK, cartpole
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_task import plain_task
from sklearn.tree import DecisionTreeClassifier

from crisptree.crispen.distill import distill
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.select import Selection
from crisptree.envs.policy import FunctionPolicy
from crisptree.envs.task import task_of

THREE = plain_task(("a", "b", "c"), ("left", "stay", "right"))


def label(states: np.ndarray) -> np.ndarray:
    """Balances by a rule that is no axis-aligned tree."""
    return (states[:, 2] + 0.5 * states[:, 3] > 0).astype(np.int64)


teacher = FunctionPolicy(label)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 24), st.integers(1, 400))
def test_cart_is_scikit_learns(seed, n_leaves, n):
    """On every training state, and one float beside every threshold that CART chose."""
    random = np.random.default_rng(seed)
    states = random.normal(0, 10 ** random.uniform(-3, 3, 3), size=(n, 3)).astype(np.float32)
    states[:, 2] = np.round(states[:, 2])
    actions = (random.random((n, 3)) + 0.3 * np.sign(states)).argmax(1)
    tree = fit_cart(states, actions, None, n_leaves, THREE, seed)
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
    tree = fit_cart(states, (states[:, 1] > 0.123).astype(int) * 2, None, 8, THREE, 0)
    assert tree.feature_names == THREE.feature_names
    assert tree.action_names == THREE.action_names
    assert (tree.threshold == np.float32(tree.threshold)).all()
    assert tree.n_leaves == 2
    assert set(tree.action[tree.action >= 0]) == {0, 2}  # actions, not classes of CART


def test_one_action_everywhere_is_a_leaf():
    states = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    assert fit_cart(states, np.full(50, 2), None, 8, THREE, 0).action.tolist() == [2]


@pytest.fixture(scope="module")
def distilled():
    told: list[tuple[int, float]] = []
    selection = Selection(TASK, 3)
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
    selection = Selection(TASK, 3)
    again = distill(teacher, TASK, 8, selection, seed=1, rounds=4, episodes=16)
    assert again.tree.to_dict() == done.tree.to_dict()
    assert again[1:4] == done[1:4]


def test_a_tree_as_a_teacher_is_copied():
    """Nothing is lost where the teacher is a tree of the same size."""
    done = distill(
        GOOD,
        TASK,
        4,
        Selection(TASK, 0),
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

    def fit(states, actions, weights, n_leaves, task, seed):
        seen.append((states, actions))
        return (cartpole(0), cartpole(1), GOOD)[len(seen) - 1]

    done = distill(teacher, TASK, 4, Selection(TASK, 0), seed=0, rounds=3, episodes=4, fit=fit)
    lengths = [len(states) for states, _ in seen]
    assert lengths[0] == 4 * 500  # the teacher balances
    assert 4 * 8 <= lengths[1] - lengths[0] <= 4 * 11  # always left: about ten steps
    assert 4 * 8 <= lengths[2] - lengths[1] <= 4 * 11
    for states, actions in seen:
        assert actions.tolist() == label(states).tolist()
        np.testing.assert_array_equal(states[: lengths[0]], seen[0][0])
    # of the three trees the one that falls is not chosen
    assert done.tree is GOOD
    states = seen[-1][0]
    agreement = (GOOD.act(states) == label(states)).mean()
    assert done.agreement == pytest.approx(agreement, abs=0.05)


def test_a_task_without_a_twin_in_jax():
    """Through the environments of any id."""
    task = task_of("CartPole-v0")
    selection = Selection(task, 0)
    done = distill(teacher, task, 4, selection, seed=0, rounds=2, episodes=8, finalists=1)
    assert done.selection_return > 150
    assert done.tree.env_id == "CartPole-v0"


class Careful(FunctionPolicy):
    """A teacher that knows where it matters what is done."""

    def regret(self, observations):
        return np.where(observations[:, 2] > 0, 10.0, 0.001)


def test_states_count_by_what_a_wrong_action_costs():
    weights: list[np.ndarray] = []

    def fit(states, actions, given, n_leaves, task, seed):
        assert given.mean() == pytest.approx(1, rel=0.01)
        weights.append(given[states[:, 2] > 0].min() / given[states[:, 2] <= 0].max())
        return GOOD

    options = {"seed": 0, "rounds": 2, "episodes": 4, "fit": fit}
    distill(Careful(label), TASK, 4, Selection(TASK, 0), **options)
    assert min(weights) > 100


def test_no_round_begins_once_it_is_late():
    told: list[int] = []
    distill(
        teacher,
        TASK,
        4,
        Selection(TASK, 0),
        seed=0,
        rounds=9,
        episodes=2,
        report=lambda round_, score: told.append(round_),
        is_late=lambda: True,
    )
    assert told == [0, 1]
