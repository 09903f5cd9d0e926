import numpy as np
import pytest
from gymnasium import spaces
from helpers import LINE, make_task

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions
from crisptree.envs.action_spaces import own_actions, sample_actions


def actions(done: spaces.Space, **metadata) -> Actions:
    return make_task(LINE, done, **metadata).actions


def refusal(done: spaces.Space, **metadata) -> str:
    with pytest.raises(CrisptreeError) as caught:
        make_task(LINE, done, **metadata)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_discrete_actions_of_any_start():
    assert actions(spaces.Discrete(3)) == Actions.discrete(("action 0", "action 1", "action 2"))
    found = actions(spaces.Discrete(2, start=-2))
    assert found.start == (-2,) and found.names == ("action -2", "action -1")
    task = make_task(LINE, spaces.Discrete(3, start=-1))
    assert task.environment_actions(np.array([0, 2])) == [-1, 1]
    assert all(type(given) is int for given in task.environment_actions(np.array([0, 2])))


def test_several_choices():
    found = actions(spaces.MultiDiscrete([2, 3], start=[0, 5]))
    assert found == Actions.multi_discrete(
        ("action[0]", "action[1]"), (("0", "1"), ("5", "6", "7")), start=(0, 5)
    )
    task = make_task(
        LINE,
        spaces.MultiDiscrete([2, 2]),
        action_names=["left", "right"],
        action_choices=[["shut", "open"], ["off", "on"]],
    )
    assert task.action_names == ("left", "right")
    assert task.actions.choices == (("shut", "open"), ("off", "on"))


def test_choices_in_the_environment_s_own_shape_and_type():
    task = make_task(LINE, spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), dtype=np.int32))
    (given,) = task.environment_actions(np.array([[1, 2, 3, 4]]))
    assert given.tolist() == [[1, 2], [3, 4]]
    assert given.dtype == np.int32
    task = make_task(LINE, spaces.MultiBinary(3))
    (given,) = task.environment_actions(np.array([[1, 0, 1]]))
    assert (given.tolist(), given.dtype) == ([1, 0, 1], np.int8)


def test_action_choices_must_fit():
    done = spaces.MultiDiscrete([2, 2])
    assert "sizes [2, 1]; they must be [2, 2]" in refusal(done, action_choices=[["a", "b"], ["c"]])


def test_real_actions():
    low, high = np.array([[-1.0, 0.0]]), np.array([[1.0, 10.0]])
    task = make_task(LINE, spaces.Box(low, high, dtype=np.float64))
    assert task.actions == Actions.box(
        ("action[0][0]", "action[0][1]"), (-1.0, 0.0), (1.0, 10.0), "float64", (1, 2)
    )
    (given,) = task.environment_actions(np.array([[-7.0, 3.25]]))
    assert (given.tolist(), given.dtype) == ([[-1.0, 3.25]], np.float64)
    flat = make_task(LINE, spaces.Box(-2, 2, (1,), np.float32))
    assert flat.actions.shape == ()
    assert flat.environment_actions(np.array([[0.5]]))[0].dtype == np.float32


def test_a_single_number_in_a_box():
    (given,) = make_task(LINE, spaces.Box(-1, 1, ())).environment_actions(np.array([[0.5]]))
    assert given.shape == ()


def test_whole_numbers_in_a_box_are_choices():
    low, high = np.array([-1, 5], np.int32), np.array([1, 6], np.int32)
    task = make_task(LINE, spaces.Box(low, high, dtype=np.int32))
    assert task.actions == Actions(
        "multi_discrete",
        ("action[0]", "action[1]"),
        choices=(("-1", "0", "1"), ("5", "6")),
        start=(-1, 5),
        dtype="int32",
    )
    (given,) = task.environment_actions(np.array([[2, 0]]))
    assert (given.tolist(), given.dtype) == ([1, 5], np.int32)
    one = make_task(LINE, spaces.Box(0, 3, (), np.int64))
    (given,) = one.environment_actions(np.array([[2]]))
    assert (int(given), given.shape, given.dtype) == (2, (), np.int64)
    tree = CrispTree.from_nested(
        (task.feature_names[0], 0.0, [2, 0], [0, 1]), task.feature_names, actions=task.actions
    )
    assert tree.predict(np.ones(len(task.features)))[0].tolist() == [1, 5]


@pytest.mark.parametrize(
    ("done", "what"),
    [
        (spaces.Discrete(1), "one action: there is nothing to decide"),
        (spaces.MultiDiscrete([1, 1]), "one action: there is nothing to decide"),
        (spaces.Box(-np.inf, np.inf, (2,)), "without bounds"),
        (spaces.Box(np.float32(-3.4e38), np.float32(3.4e38), (2,)), "without bounds"),
        (spaces.Box(0, np.inf, (2,)), "without bounds (number 0 goes from 0 to inf)"),
        (
            spaces.Box(np.array([0, 1], np.float32), np.array([1, 1], np.float32)),
            "number 1 goes from 1 to 1",
        ),
        (spaces.Box(-1, 1, (0,)), "actions of no numbers"),
        (spaces.Box(-1, 1, (2,), np.float16), "float16 actions; crisptree takes float32, float64"),
        (spaces.Box(-(2**62), 2**62, (2,), np.int64), "18,446,744,073,709,551,618 actions"),
        (spaces.Box(3, 3, (2,), np.int64), "one action: there is nothing to decide"),
        (spaces.Discrete(5000), "5,000 actions"),
        (spaces.Dict({"a": spaces.Discrete(2)}), "Dict actions; crisptree takes Discrete"),
        (spaces.Text(3), "Text actions; crisptree takes Discrete"),
    ],
)
def test_actions_that_are_refused(done, what):
    assert what in refusal(done)


def test_bounds_that_are_not_numbers():
    box = spaces.Box(-1, 1, (2,))
    box.low[1] = np.nan
    assert "without bounds (number 1 goes from nan to 1)" in refusal(box)


@pytest.mark.parametrize(
    "done",
    [
        spaces.Discrete(4, start=3),
        spaces.MultiDiscrete(np.array([[2, 3]]), start=np.array([[1, 0]])),
        spaces.MultiBinary(2),
        spaces.Box(-1, 2, (2, 2)),
    ],
)
def test_random_actions_are_the_environment_s_and_lead_back(done):
    task = make_task(LINE, done)
    chosen = sample_actions(task.actions, 20, np.random.default_rng(0))
    given = task.environment_actions(chosen)
    assert all(done.contains(one) for one in given)
    np.testing.assert_allclose(own_actions(task.actions, np.asarray(given)), chosen, rtol=1e-6)


def test_a_team_has_one_agent_s_actions():
    team = spaces.Box(-1, 1, (2, 3))
    assert make_task(team, spaces.MultiDiscrete([4, 4])).n_agents == 2
    assert make_task(team, spaces.MultiDiscrete([4, 4])).n_actions == 4
    assert make_task(team, spaces.MultiDiscrete([4, 4]), n_agents=None).n_agents is None
    assert make_task(team, spaces.MultiDiscrete([4, 3])).n_agents is None
    assert make_task(team, spaces.MultiDiscrete([4, 4, 4])).actions.kind == "multi_discrete"
