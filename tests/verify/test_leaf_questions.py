from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions
from crisptree.verify.leaf_questions import largest_jump
from crisptree.verify.verify import verify

TORQUE = Actions.box(("torque",), (-1.0,), (1.0,))
NAMES = ("angle", "spin", "height")


def line_tree(yes: tuple, no: tuple) -> CrispTree:
    """Two leaves that meet where the angle is 0."""
    return CrispTree.from_nested(("angle", 0.0, [yes], [no]), NAMES, actions=TORQUE)


def test_a_jump_by_hand():
    tree = line_tree((0.5, {"spin": 0.1}), (0.2, {"spin": -0.1}))
    box = np.array([[-1, 1], [-1, 1], [-1, 1]], float)
    size, leaves, at = largest_jump(tree, box)
    assert size == pytest.approx(0.5) and set(leaves) == {1, 2} and at[1] == 1.0 and at[0] == 0.0
    answer = verify(tree, "jumps at most 0.5 when |spin| <= 1")
    assert answer.verdict == "holds"


def test_lines_beyond_the_same_bound_do_not_jump():
    """Both say more than is allowed, one 5 and the other 50."""
    tree = line_tree((5.0, {"spin": 0.01}), (50.0, {"spin": 0.01}))
    answer = verify(tree, "jumps at most 0 when |spin| <= 1")
    assert answer.verdict == "holds"


def test_a_line_beyond_its_bound_changes_nothing():
    tree = line_tree((5.0, {"spin": 3.0}), (0.0, {"spin": 0.25}))
    for question, verdict in (
        ("changes at most 0.25 per spin when |spin| <= 1", "holds"),
        ("changes at most 0.25 per spin when |spin| <= 2", "fails"),
        ("changes at most 0.2 per spin when |spin| <= 1", "fails"),
    ):
        answer = verify(tree, question)
        assert answer.verdict == verdict, question


def test_without_bounds_the_largest_jump_is_the_whole_range():
    tree = line_tree((0.0, {"spin": 1e-3}), (0.0, {"spin": -1e-3}))
    assert largest_jump(tree, np.tile([-np.inf, np.inf], (3, 1)))[0] == pytest.approx(2.0)
    same = line_tree((0.0, {"spin": 1e-3}), (0.0, {"spin": 1e-3}))
    assert largest_jump(same, np.tile([-np.inf, np.inf], (3, 1)))[0] == 0.0


numbers = st.floats(-2, 2).map(lambda x: round(x, 2))
lines = st.tuples(numbers, st.fixed_dictionaries(dict.fromkeys(NAMES, numbers)))


@given(lines, lines)
@settings(max_examples=60, deadline=None)
def test_the_largest_jump_is_what_a_fine_grid_finds(yes, no):
    """Nowhere on a grid is the jump larger, and where it is said to be, it is."""
    yes, no = (((c, {n: w or 1e-3 for n, w in gains.items()})) for c, gains in (yes, no))
    tree = line_tree(yes, no)
    size, leaves, at = largest_jump(tree, np.array([[-1.0, 1.0]] * 3))

    def jump(spin: float, height: float) -> float:
        x = {"angle": 0.0, "spin": spin, "height": height}
        said = [c + sum(w * x[n] for n, w in gains.items()) for c, gains in (yes, no)]
        return abs(np.subtract(*np.clip(said, -1, 1)))

    grid = np.linspace(-1, 1, 21)
    assert max(jump(*pair) for pair in product(grid, grid)) <= size + 1e-9
    assert size == 0 or jump(*at[1:]) == pytest.approx(size, abs=1e-9)
    del leaves


def test_choices_do_not_jump():
    tree = CrispTree.from_nested(("angle", 0.0, 0, 1), NAMES, ("left", "right"))
    with pytest.raises(CrisptreeError, match="real numbers"):
        verify(tree, "jumps at most 1")
