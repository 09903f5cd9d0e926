import numpy as np
import pytest
from cartpole_trees import GOOD, TASK
from hypothesis import given
from hypothesis import strategies as st
from plain_task import plain_task

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen import expert
from crisptree.crispen.expert import MOST_LEAVES, changes, parse_rules, read_expert

AIR = plain_task(("wind", "rain_fall", "x2"), ("go north", "go_south", "stay"))


def told(text: str, states) -> list[int]:
    return parse_rules(text, AIR).predict(np.asarray(states, np.float32))[0].tolist()


def test_the_first_rule_whose_conditions_hold_decides():
    text = """
    # comments and blank lines are skipped

    if wind > 3 and Rain Fall <= -0.5 then go north.   # a comment
    if rain_fall < 2 then stay
    else if x2 >= 1e1 THEN action 1;
    Otherwise action 2
    """
    assert told(text, [[4, -1, 0], [4, 0, 0], [3, -1, 0], [4, 3, 10], [4, 3, 9]]) == [0, 2, 2, 1, 2]


@pytest.mark.parametrize(
    ("sign", "below", "at", "above"),
    [
        (">", False, False, True),
        (">=", False, True, True),
        ("≥", False, True, True),
        ("<", True, False, False),
        ("<=", True, True, False),
        ("≤", True, True, False),
    ],
)
@pytest.mark.parametrize("number", ["0.1", "-3", "0", "1e-30", "12345.678"])
def test_signs_are_exact_to_the_float(sign, below, at, above, number):
    """An observation is float32, and so is what it is compared with."""
    value = np.float32(float(number))
    beside = [np.nextafter(value, np.float32(to)) for to in (-np.inf, np.inf)]
    states = [[x, 0, 0] for x in (beside[0], value, beside[1])]
    holds = [
        action == 0
        for action in told(f"if wind {sign} {number} then go north\notherwise stay", states)
    ]
    assert holds == [below, at, above]


@pytest.mark.parametrize(
    "line",
    [
        "if wind > 1 then go north",
        "IF Wind>1 THEN Go North",
        "if  wind  >  +1.0  then  go_north.",
        "else if x0 > 1 then action 0;",
        "if WIND > 10e-1 then Action0  # the first",
    ],
)
def test_ways_to_write_a_rule(line):
    assert told(f"{line}\notherwise stay", [[1.5, 0, 0], [1, 0, 0]]) == [0, 2]


@pytest.mark.parametrize(
    "line",
    ["otherwise stay", "Otherwise, stay.", "else stay", "OTHERWISE\tstay", "otherwise: action 2"],
)
def test_ways_to_write_the_rest(line):
    tree = parse_rules(line, AIR)
    assert (tree.n_leaves, tree.action.tolist()) == (1, [2])


def test_a_list_of_single_conditions_is_a_rule_list():
    text = "if wind > 3 then stay\nif rain fall < 1 then go north\notherwise go south"
    tree = parse_rules(text, AIR)
    assert tree.is_rule_list
    assert tree.n_leaves == 3
    assert (tree.feature_names, tree.action_names) == (AIR.feature_names, AIR.action_names)


CONDITION = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["<", ">", "<=", ">="]),
    st.sampled_from([-1.5, 0.0, 0.5, 2.0]),
)
RULE = st.tuples(st.lists(CONDITION, min_size=1, max_size=3), st.integers(0, 2))
HOLDS = {"<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal}


@given(st.lists(RULE, max_size=4), st.integers(0, 2))
def test_any_rules_are_followed(rules, otherwise):
    """Against the rules read one after the other, on a grid with every threshold in it."""
    lines = [
        "if " + " and ".join(f"x{f} {sign} {t}" for f, sign, t in conditions) + f" then action {a}"
        for conditions, a in rules
    ]
    tree = parse_rules("\n".join([*lines, f"otherwise action {otherwise}"]), AIR)
    axis = np.array([-2, -1.5, -1, 0, 0.25, 0.5, 1, 2, 3], np.float32)
    states = np.stack(np.meshgrid(axis, axis, axis), -1).reshape(-1, 3)
    expected = np.full(len(states), otherwise)
    for conditions, action in reversed(rules):
        held = [HOLDS[sign](states[:, f], np.float32(t)) for f, sign, t in conditions]
        expected[np.all(held, axis=0)] = action
    assert tree.predict(states)[0].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("if wind then stay", "'wind' is not FEATURE > NUMBER (or <, >=, <=)"),
        ("if wind == 3 then stay", "'wind == 3' is not FEATURE > NUMBER"),
        ("if wind > 3 and rain fall then stay", "'rain fall' is not FEATURE > NUMBER"),
        ("if sun > 3 then stay", "no feature 'sun'; there are wind, rain_fall, x2"),
        ("if x3 > 3 then stay", "no feature 'x3'; there are"),
        ("if wind > high then stay", "'high' is not a number"),
        ("if wind > nan then stay", "'nan' is not a number"),
        ("if wind > inf then stay", "'inf' is not a number"),
        ("if wind <= 1e39 then stay", "'1e39' is not a number that float32 holds"),
        ("if wind > 3 then fly", "no action 'fly'; there are go north, go_south, stay"),
        ("if wind > 3 then action 3", "no action 'action 3'"),
        ("if wind > 3 stay", "expected 'if FEATURE > NUMBER and … then ACTION'"),
        ("if wind > 3 then", "expected 'if FEATURE > NUMBER and … then ACTION'"),
        ("wind > 3 then stay", "expected 'if FEATURE > NUMBER and … then ACTION'"),
        ("otherwise", "no action ''"),
        ("otherwise fly", "no action 'fly'"),
        ("otherwise stay\nif wind > 3 then stay", "line 4: nothing can follow 'otherwise'"),
        ("otherwise stay\notherwise stay", "line 4: nothing can follow 'otherwise'"),
    ],
)
def test_a_wrong_line_is_named(line, message):
    text = f"# my rules\nif wind > 9 then stay\n{line}\notherwise stay"
    with pytest.raises(CrisptreeError) as error:
        parse_rules(text, AIR, "my.rules")
    assert message in str(error.value)
    assert str(error.value).startswith(("my.rules, line 3: ", "my.rules, line 4: "))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "# nothing", "if wind > 3 then stay"])
def test_the_rest_must_be_said(text):
    with pytest.raises(CrisptreeError, match="rules: the last line must be 'otherwise ACTION'"):
        parse_rules(text, AIR)


def test_rules_that_would_make_a_forest_are_refused():
    line = "if wind > 1 and rain fall > 2 and x2 > 3 then stay\n"
    with pytest.raises(CrisptreeError, match="these rules make a tree of 1,093 leaves before"):
        parse_rules(line * 6 + "otherwise stay", AIR)
    with pytest.raises(CrisptreeError, match="rules: more than 100,000 characters is not a few"):
        parse_rules("#" * 100_001, AIR)


def test_the_longest_list_is_read():
    n = MOST_LEAVES - 1
    lines = [f"if wind > {n - i} then action {i % 3}" for i in range(n)]
    tree = parse_rules("\n".join([*lines, "otherwise stay"]), AIR)
    assert tree.n_leaves == MOST_LEAVES
    assert tree.predict([n - 0.5, 0, 0])[0] == 1
    with pytest.raises(CrisptreeError, match=f"at most {MOST_LEAVES}"):
        parse_rules("\n".join([lines[0], *lines, "otherwise stay"]), AIR)


def test_rules_from_a_file(tmp_path):
    path = tmp_path / "expert.rules"
    path.write_text("if pole angle > 0 then push right\notherwise push left\n", encoding="utf-8")
    tree = read_expert(path, TASK)
    assert tree.predict(np.array([0, 0, 0.1, 0], np.float32))[0] == 1
    path.write_text("nonsense\n")
    with pytest.raises(CrisptreeError, match=f"{path}, line 1: expected"):
        read_expert(path, TASK)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(CrisptreeError, match=r"cannot read .*none\.rules: .*No such file"):
        read_expert(tmp_path / "none.rules", TASK)
    (tmp_path / "a.rules").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CrisptreeError, match=r"cannot read .*a\.rules: "):
        read_expert(tmp_path / "a.rules", TASK)


def test_a_policy_file(tmp_path):
    GOOD.save(tmp_path / "good.json")
    assert read_expert(tmp_path / "good.json", TASK).to_dict() == GOOD.to_dict()
    GOOD.save(tmp_path / "policy.json")
    assert read_expert(tmp_path, TASK) == GOOD  # the directory of a run
    with pytest.raises(CrisptreeError, match=r"good\.json: the policy has 4 features"):
        read_expert(tmp_path / "good.json", AIR)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(CrisptreeError, match=r"bad\.json"):
        read_expert(tmp_path / "bad.json", TASK)


def test_what_changed(monkeypatch):
    """On the states that the trained tree meets."""
    states = np.array([[1], [2], [3], [4]], np.float32)
    monkeypatch.setattr(expert, "visited_states", lambda *_: states)
    task = plain_task(("x",), ("a", "b", "c"))
    before = CrispTree.from_nested((0, 2.5, "b", "a"), ("x",), ("a", "b", "c"))
    after = CrispTree.from_nested((0, 3.5, "c", (0, 1.5, "a", "b")), ("x",), ("a", "b", "c"))
    assert changes(before, after, task) == {
        "leaves": [2, 3],
        "states": 4,
        "changed_share": 0.75,
        "changed_actions": {"a → b": 0.25, "b → a": 0.25, "b → c": 0.25},
    }
    assert changes(before, before, task)["changed_actions"] == {}


def test_changes_are_counted_where_the_trained_tree_goes():
    wobbly = expert.parse_rules("if pole angle > 0 then push right\notherwise push left", TASK)
    found = changes(wobbly, GOOD, TASK)
    assert found["leaves"] == [2, 4]
    assert found["states"] == 20_000
    assert 0 < found["changed_share"] < 0.8
    assert sum(found["changed_actions"].values()) == pytest.approx(found["changed_share"])
