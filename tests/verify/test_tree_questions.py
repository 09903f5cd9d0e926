"""z3's answers against trying every float that matters, and against faults put there on purpose."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from verify_trees import ANGLE_ONLY, STEADY, every_float_that_matters, grid, grown

from crisptree.crisp import CrispTree
from crisptree.verify import verify
from crisptree.verify.language import parse
from crisptree.verify.search import meets, takes

FEATURES, ACTIONS = ("a", "b", "c"), ("left", "stay", "right")
DTYPES = st.sampled_from([np.float32, np.float64])
NUMBERS = st.sampled_from(["-2", "-0.5", "0", "0.1", "0.5", "1", "2", "1e300"])
OPERATORS = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])
ATOMS = st.tuples(st.sampled_from(["a", "b", "|a|", "2*b - 1", "|b + 1|"]), OPERATORS, NUMBERS)
CONDITIONS = st.recursive(
    ATOMS.map(" ".join),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map("not ({})".format),
    ),
    max_leaves=2,
)
SMALL = settings(max_examples=25)
THRESHOLDS = st.sampled_from([-1.0, -0.5, 0.1, 0.5, 1.0]) | st.floats(-1e3, 1e3)
NESTED = st.recursive(
    st.integers(0, 2),
    lambda side: st.tuples(st.sampled_from([0, 1, 1, 2]), THRESHOLDS, side, side),
    max_leaves=6,
)


def tree_of(nested):
    return CrispTree.from_nested(nested, FEATURES, ACTIONS)


def representatives(trees, condition, dtype):
    values = every_float_that_matters(trees, [condition], dtype)
    return [x for x in grid(values) if meets(condition, x)]


def actions(tree, observations):
    return tree.predict(np.array(observations).reshape(-1, 3))[0].tolist()


@SMALL
@given(NESTED, CONDITIONS, st.sampled_from(ACTIONS), DTYPES)
def test_never_always_sometimes(nested, when, action, dtype):
    tree = tree_of(nested)
    asked: Any = parse(f"never {action} when {when}", tree)
    taken = set(actions(tree, representatives([tree], asked.when, dtype)))
    number = ACTIONS.index(action)
    truth = {
        "never": number not in taken,
        "sometimes": number in taken,
        "always": taken <= {number},
    }
    for word, holds in truth.items():
        answer: Any = verify(tree, f"{word} {action} when {when}", dtype=dtype)
        assert answer.verdict == ("holds" if holds else "fails")
        if answer.observation is not None:
            x = list(answer.observation)
            assert meets(asked.when, x) and all(dtype(value) == value for value in x)
            assert (takes(tree, x) == (number,)) == (word != "always")
        assert (answer.observation is None) == (holds == (word != "sometimes"))


@SMALL
@given(NESTED, NESTED, CONDITIONS, DTYPES)
def test_same(first, second, when, dtype):
    one, other = tree_of(first), tree_of(second)
    asked: Any = parse(f'same as "f" when {when}', one, None, lambda path: other)
    every = representatives([one, other], asked.when, dtype)
    same = actions(one, every) == actions(other, every)
    answer: Any = _answer(one, asked, dtype)
    assert answer.verdict == ("holds" if same else "fails")
    if not same:
        assert takes(one, answer.observation) != takes(other, answer.observation)


@SMALL
@given(NESTED, CONDITIONS, st.sampled_from(["increasing", "decreasing"]), DTYPES)
def test_monotone(nested, when, way, dtype):
    tree = tree_of(nested)
    asked: Any = parse(f"{way} in a when {when}", tree)
    every = representatives([tree], asked.when, dtype)
    sign = 1 if way == "increasing" else -1
    by_rest: dict = {}
    for x, action in zip(every, actions(tree, every), strict=True):
        by_rest.setdefault(tuple(x[1:]), []).append((x[0], sign * action))
    truth = all(
        [action for _, action in sorted(pairs)] == sorted(action for _, action in pairs)
        for pairs in by_rest.values()
    )
    answer: Any = _answer(tree, asked, dtype)
    assert answer.verdict == ("holds" if truth else "fails")
    if not truth:
        before, after = answer.observation, answer.details["raised"]
        assert after[0] > before[0] and list(after[1:]) == list(before[1:])
        assert sign * takes(tree, after)[0] < sign * takes(tree, before)[0]


@SMALL
@given(NESTED, CONDITIONS, DTYPES)
def test_symmetric(nested, when, dtype):
    tree = tree_of(nested)
    asked: Any = parse(f"symmetric under -c, a <-> b, left <-> right when {when}", tree)
    flipped = replace(tree, threshold=-tree.threshold)
    swapped = np.where(tree.feature == 0, 1, np.where(tree.feature == 1, 0, tree.feature))
    images = [tree, flipped, replace(tree, feature=swapped)]
    thresholds = {(f, t) for f, t, _, _ in tree.nodes if f >= 0}
    every = representatives(images, asked.when, dtype)
    mirrored = [[b, a, -c] for a, b, c in every]
    pairs = zip(every, mirrored, actions(tree, every), actions(tree, mirrored), strict=True)
    truth = all(
        there == 2 - here or any(point[f] == t for point in (x, y) for f, t in thresholds)
        for x, y, here, there in pairs
    )
    assert _answer(tree, asked, dtype).verdict == ("holds" if truth else "fails")


def _answer(tree, asked, dtype):
    from crisptree.verify.search import Search
    from crisptree.verify.tree_questions import Asker

    return Asker(tree, Search(tree.n_features, dtype)).ask(asked, "asked")


@SMALL
@given(NESTED, CONDITIONS, st.sampled_from(ACTIONS))
def test_where(nested, when, action):
    tree = tree_of(nested)
    asked: Any = parse(f"where {action} when {when}", tree)
    regions = verify(tree, f"where {action} when {when}").details["regions"]
    every = representatives([tree], asked.when, np.float64)
    for x, taken in zip(every, actions(tree, every), strict=True):
        inside = [
            all(
                (each["above"] is None or x[FEATURES.index(each["feature"])] > each["above"])
                and (
                    each["at_most"] is None or x[FEATURES.index(each["feature"])] <= each["at_most"]
                )
                for each in region
            )
            for region in regions
        ]
        assert sum(inside) == (taken == ACTIONS.index(action))


@given(NESTED, st.sampled_from(["a + b > 0.5", "a - 2*c <= 0", "|a| + |b| + |c| < 1.5"]))
@SMALL
def test_conditions_that_join_features(nested, when):
    tree = tree_of(nested)
    asked: Any = parse(f"never left when {when}", tree)
    answer: Any = verify(tree, f"never left when {when}")
    steps = [value / 2 for value in range(-3, 4)]
    every = [x for x in grid([steps] * 3) if meets(asked.when, x)]
    found = 0 in actions(tree, every)
    assert answer.verdict == "fails" or not found
    if answer.verdict == "fails":
        assert meets(asked.when, answer.observation) and takes(tree, answer.observation) == (0,)


def test_a_fault_planted_in_any_leaf_is_found():
    tree = grown(32, 1).simplify()
    for rule in tree.rules():
        action = np.array(tree.action)
        action[rule.leaf] = (tree.action[rule.leaf] + 1) % tree.n_actions
        faulty = replace(tree, action=action)
        asked: Any = parse('same as "f"', tree, None, lambda path, faulty=faulty: faulty)
        answer: Any = _answer(tree, asked, np.float64)
        assert answer.verdict == "fails" and rule.holds(answer.observation)


def test_a_threshold_one_float_off_is_found_where_floats_can_tell():
    tree = CrispTree.from_nested(("a", 0.25, 1, 0), ("a",), ("left", "right"))
    for dtype in (np.float32, np.float64):
        moved = float(np.nextafter(dtype(0.25), dtype(1)))
        other = replace(tree, threshold=np.array([moved, 0, 0]))
        asked: Any = parse('same as "f"', tree, None, lambda path, other=other: other)
        assert _answer(tree, asked, dtype).observation == (moved,)
    assert _answer(tree, asked, np.float32).verdict == "holds"


def test_symmetry_leaves_out_the_thresholds_themselves():
    mirror = "symmetric under -all, push left <-> push right"
    assert verify(ANGLE_ONLY, mirror).verdict == "holds"
    answer: Any = verify(STEADY, mirror)
    assert answer.verdict == "fails"
    assert answer.details["mirrored"] == [-value + 0.0 for value in answer.observation]


def test_what_holds_because_nothing_meets_the_condition_says_so():
    answer: Any = verify(STEADY, "never push left when pole angle > 3 and pole angle < 1")
    assert (answer.verdict, answer.why) == ("holds", "no observation meets the condition")


def test_a_gap_between_two_floats_holds_no_observation():
    low, high = 0.1, float(np.nextafter(0.1, 1))
    question = f"sometimes push left when {low!r} < pole angle < {high!r}"
    assert verify(STEADY, question).verdict == "fails"


def test_no_answer_in_time_is_undecided(monkeypatch):
    import z3

    monkeypatch.setattr(z3.Solver, "check", lambda self: z3.unknown)
    monkeypatch.setattr(z3.Solver, "reason_unknown", lambda self: "timeout")
    answer: Any = verify(STEADY, "never push left")
    assert (answer.verdict, answer.why) == ("undecided", "z3 gave no answer (timeout)")
