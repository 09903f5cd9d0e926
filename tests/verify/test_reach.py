import time

import numpy as np
import pytest
from verify_trees import FALLING, STEADY, cart_pole

from crisptree.verify import reach
from crisptree.verify.cartpole import physics, replay
from crisptree.verify.reach import stays_inside

LIMITS = np.stack([-physics().limits, physics().limits], 1)
START = np.tile([-0.05, 0.05], (4, 1))
LATER = time.monotonic() + 1e6


def run(tree, goal, steps, most_boxes):
    return stays_inside(tree, START, goal, steps, most_boxes=most_boxes, deadline=LATER)


def test_a_proof_for_every_start():
    assert run(STEADY, LIMITS, 25, 400).steps == 25


@pytest.mark.parametrize("most_boxes", [50, 400])
def test_no_proof_reaches_further_than_what_really_happens(most_boxes):
    starts = np.random.default_rng(0).uniform(START[:, 0], START[:, 1], (40, 4))
    first_to_end = min(len(replay(FALLING, start, 60)) - 1 for start in starts)
    assert 0 < run(FALLING, LIMITS, 60, most_boxes).steps < first_to_end < 60


def test_every_replayed_state_lies_in_a_box():
    boxes = reach._cut_into_pieces(START, 400)
    fineness = reach.FINEST
    episodes = [
        replay(STEADY, start, 20)
        for start in np.random.default_rng(3).uniform(START[:, 0], START[:, 1], (20, 4))
    ]
    for at in range(1, 21):
        boxes, fineness = reach._joined(reach._step(STEADY, boxes), 200, fineness)
        for states in episodes:
            low, high = boxes
            assert ((low <= states[at]) & (states[at] <= high)).all(axis=1).any()
    assert len(boxes[0]) <= 200


def test_states_that_round_to_the_threshold_are_in_both_pieces():
    """0.1 is no float32; states are rounded before the tree sees them."""
    tree = cart_pole(("pole angle", 0.1, "push right", "push left"))
    low = float(np.float32(0.1))
    below = float(np.nextafter(np.float32(0.1), np.float32(0)))
    middle = (low + below) / 2
    for angle, leaves in ((middle, {1, 2}), (np.nextafter(middle, 0), {2}), (low, {1})):
        state = np.array([[0, 0, angle, 0]], float)
        found = {leaf for leaf, (lows, _) in reach._by_leaf(tree, (state, state)) if len(lows)}
        assert found == leaves
        assert int(tree.apply(state[0].astype(np.float32))) in found


def test_the_pieces_cover_the_start():
    low, high = reach._cut_into_pieces(START, 1000)
    assert (low.min(axis=0) == START[:, 0]).all() and (high.max(axis=0) == START[:, 1]).all()
    volume = np.prod(high - low, axis=1).sum()
    assert volume == pytest.approx(np.prod(START[:, 1] - START[:, 0]))


def test_out_of_time():
    done = stays_inside(STEADY, START, LIMITS, 10, most_boxes=50, deadline=time.monotonic() - 1)
    assert done.out_of_time and done.steps == 0
