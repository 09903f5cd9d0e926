import time

import numpy as np
import pytest
from verify_trees import FALLING, STEADY, cart_pole

from crisptree.verify.cells import Grid
from crisptree.verify.claims import Claim, Judge, loop_of
from crisptree.verify.loop import Boxes, Loop
from crisptree.verify.plants.classic import CART_POLE
from crisptree.verify.reach import Limits, Prover
from crisptree.verify.replay import episode

SIZES = (None, 0.02, 0.004, 0.02)


def grid(tree):
    loop = Loop(tree, CART_POLE)
    lines = []
    for cuts, size in zip(loop.cuts(), SIZES, strict=True):
        own = set(cuts) if size is None else {*cuts, *(np.arange(-100, 101) * size).tolist()}
        lines.append(tuple(sorted(own)))
    return Grid(tuple(lines), (False,) * 4, (2.0**-12,) * 4)


def attempt(tree, steps, deadline=np.inf):
    claim = Claim("stays", CART_POLE.reset_box / 4, CART_POLE.box(CART_POLE.limits), steps)
    loop, judge = loop_of(tree, CART_POLE, claim), Judge(CART_POLE, claim)
    return Prover(loop, judge, Limits(deadline)).attempt(grid(tree), 1)


def test_a_proof_for_every_start():
    assert attempt(STEADY, 10).is_proof


def test_no_proof_reaches_further_than_what_really_happens():
    box = CART_POLE.reset_box / 4
    starts = np.random.default_rng(0).uniform(box[:, 0], box[:, 1], (40, 4))
    first_to_end = min(len(episode(FALLING, CART_POLE, start, 60)) - 1 for start in starts)
    found = attempt(FALLING, 60)
    assert not found.is_proof and 0 < found.shown_steps < first_to_end < 60


def test_every_replayed_state_lies_in_its_cover():
    found = attempt(STEADY, 10)
    box = CART_POLE.reset_box / 4
    for start in np.random.default_rng(3).uniform(box[:, 0], box[:, 1], (20, 4)):
        states = episode(STEADY, CART_POLE, start, 10)
        for state, cover in zip(states, found.layers, strict=True):
            assert ((cover.low <= state) & (state <= cover.high)).all(axis=1).any()


def test_states_that_round_to_the_threshold_are_in_both_pieces():
    """0.1 is no float32; states are rounded before the tree sees them."""
    tree = cart_pole(("pole angle", 0.1, "push right", "push left"))
    low = float(np.float32(0.1))
    below = float(np.nextafter(np.float32(0.1), np.float32(0)))
    middle = (low + below) / 2
    for angle, leaves in ((middle, {1, 2}), (np.nextafter(middle, 0), {2}), (low, {1})):
        state = np.array([[0, 0, angle, 0]], float)
        pieces = Loop(tree, CART_POLE).pieces(Boxes(state, state))
        found = {leaf for leaf, boxes in pieces if len(boxes)}
        assert found == leaves
        assert int(tree.apply(state[0].astype(np.float32))) in found


def test_out_of_time():
    found = attempt(STEADY, 10, deadline=time.monotonic() - 1)
    assert not found.is_proof and found.shown_steps == 0 and found.reason == "the time is over"


@pytest.mark.parametrize("steps", [0, 1])
def test_a_claim_about_the_start_needs_no_step(steps):
    assert len(attempt(FALLING, steps).layers) == steps + 1
