import numpy as np
import pytest
from loops import DAMPING, DOUBLE, FILLING, TANK
from verify_trees import STEADY, cart_pole

from crisptree.crisp import CrispTree
from crisptree.verify.loop import Boxes, Loop, changes_at, trimmed
from crisptree.verify.plants.classic import CART_POLE, PENDULUM
from crisptree.verify.plants.delay import delayed

SWING = CrispTree.from_nested(
    ("cos angle", 0.6, {"torque": (0.0, {"sin angle": -8.0, "angular velocity": -2.0})}, [2.0]),
    PENDULUM.feature_names,
    actions=PENDULUM.actions,
)


def boxes_around(states, half):
    return Boxes(states - half, states + half)


def hold(boxes, states):
    """Whether each state lies in one of the boxes."""
    inside = (boxes.low[None] <= states[:, None]) & (states[:, None] <= boxes.high[None])
    return bool(inside.all(axis=2).any(axis=1).all())


@pytest.mark.parametrize("with_forms", [False, True])
@pytest.mark.parametrize(
    ("tree", "plant", "noise"),
    [
        (STEADY, CART_POLE, ()),
        (STEADY, CART_POLE, (0.01, 0.0, 0.002, 0.05)),
        (FILLING, TANK, ()),
        (DAMPING, DOUBLE, (0.1, 0.0)),
        (SWING, PENDULUM, (0.01, 0.01, 0.1)),
    ],
)
def test_every_state_s_step_lies_in_the_image(tree, plant, noise, with_forms):
    rng = np.random.default_rng(0)
    box = plant.reset_box
    loop = Loop(tree, plant, noise, with_forms)
    acting = plant.disturbance_box
    for middle in rng.uniform(box[:, 0], box[:, 1], (15, len(box))):
        boxes = boxes_around(middle[None], rng.uniform(0, 0.1, len(box)))
        image = loop.image(boxes)
        states = rng.uniform(boxes.low[0], boxes.high[0], (200, len(box)))
        states[:2] = boxes.low[0], boxes.high[0]
        seen = plant.observations(states)
        if noise:
            seen = (seen + rng.uniform(-1, 1, seen.shape) * noise).astype(plant.observed_as)
        action = tree.act(seen)
        if tree.actions.dtype == "float32":
            action = action.astype(np.float32)
        drawn = rng.uniform(acting[:, 0], acting[:, 1], (len(states), len(acting)))
        assert hold(image, plant.play(states, action, drawn))


def test_forms_make_a_linear_leaf_s_image_narrow():
    boxes = Boxes(np.array([[0.1, 0.1]]), np.array([[0.2, 0.2]]))
    plain = Loop(DAMPING, DOUBLE).image(boxes)
    narrow = Loop(DAMPING, DOUBLE, with_forms=True).image(boxes)
    assert (narrow.high - narrow.low)[0, 1] < 0.7 * (plain.high - plain.low)[0, 1]


def test_states_that_round_to_the_threshold_are_in_both_pieces():
    """0.1 is no float32; states are rounded before the tree sees them."""
    tree = cart_pole(("pole angle", 0.1, "push right", "push left"))
    low = float(np.float32(0.1))
    below = float(np.nextafter(np.float32(0.1), np.float32(0)))
    middle = changes_at(0.1, "float32")
    assert middle == (low + below) / 2 and changes_at(0.1, "float64") == 0.1
    for angle, leaves in ((middle, {1, 2}), (np.nextafter(middle, 0), {2}), (low, {1})):
        state = np.array([[0, 0, angle, 0]], float)
        found = {leaf for leaf, _ in Loop(tree, CART_POLE).pieces(Boxes(state, state))}
        assert found == leaves
        assert int(tree.apply(state[0].astype(np.float32))) in found


def test_a_computed_feature_is_trimmed():
    loop = Loop(SWING, PENDULUM)
    assert not loop.is_exact and Loop(STEADY, CART_POLE).is_exact
    boxes = Boxes(np.array([[0.0, 0.0]]), np.array([[2.0, 0.1]]))
    pieces = dict(loop.pieces(boxes))
    near, far = (pieces[leaf] for leaf in (1, 2))
    edge = np.arccos(0.6)
    assert near.high[0, 0] == pytest.approx(edge, abs=0.02) and near.high[0, 0] >= edge
    assert far.low[0, 0] == pytest.approx(edge, abs=0.02) and far.low[0, 0] <= edge


def test_trimming_keeps_what_may_be():
    boxes = Boxes(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]]))
    same = trimmed(boxes, lambda slab: np.zeros(len(slab), bool))
    assert np.array_equal(same.low, boxes.low) and np.array_equal(same.high, boxes.high)


def test_a_delayed_action_acts_a_step_later():
    late = delayed(TANK)
    state = np.array([[0.2, 0.03, 0.0]])
    action = FILLING.act(late.observations(state))
    after = late.play(state, action, np.zeros((1, 1)))
    assert after[0].tolist() == [pytest.approx(0.17), 0.03, 1.0]
    image = Loop(FILLING, late).image(Boxes(state, state))
    assert (image.low[:, 2] == 1).all() and hold(image, after)
