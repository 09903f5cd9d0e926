"""Tubes of the prover and of the checker, against states that were played."""

from dataclasses import replace

import numpy as np
import pytest
from loops import DAMPING, DOUBLE, TANK

from crisptree.crisp import CrispTree
from crisptree.verify import certificate, checker_tubes, tubes
from crisptree.verify.checker_step import Steps
from crisptree.verify.claims import Judge, loop_of
from crisptree.verify.closed_loop import claim_of
from crisptree.verify.language import parse
from crisptree.verify.loop import Boxes, Loop
from crisptree.verify.plants.classic import ACROBOT, CART_POLE, PENDULUM
from crisptree.verify.properties import InTheLoop
from crisptree.verify.prove import attempts
from crisptree.verify.recheck import recheck
from crisptree.verify.simulate import natures, states

SWINGING = CrispTree.from_nested(
    ("angular velocity of joint 2", 0.124, "torque +1", "torque -1"),
    ACROBOT.feature_names,
    ACROBOT.actions.names,
)
BALANCING = CrispTree.from_nested(
    ("pole angular velocity", 0.1, "push right", "push left"),
    CART_POLE.feature_names,
    CART_POLE.actions.names,
)
TURNING = CrispTree.from_nested(
    ("sin angle", 0.3, [-1.5], {"torque": (0.1, {"sin angle": -8.0, "angular velocity": -2.0})}),
    PENDULUM.feature_names,
    actions=PENDULUM.actions,
)
FILLING = CrispTree.from_nested(
    ("level", 0.5, "close", "open"), TANK.feature_names, TANK.actions.names
)
LOOPS = {
    "Acrobot": (Loop(SWINGING, ACROBOT), [0.1, -0.2, 0.5, 0.3]),
    "an angle that jumps": (Loop(SWINGING, ACROBOT), [0.0, 2.932, 0.0, 1.0]),
    "CartPole": (Loop(BALANCING, CART_POLE), [0.0, 0.1, 0.02, 0.08]),
    "Pendulum": (Loop(TURNING, PENDULUM), [0.25, 0.5]),
    "a tank that is disturbed": (Loop(FILLING, TANK), [0.45, 0.03]),
    "a linear leaf": (Loop(DAMPING, DOUBLE), [0.3, 0.1]),
    "noise": (replace(Loop(DAMPING, DOUBLE), noise=(0.01, 0.0)), [0.3, 0.1]),
}
STEPS, HALF = 3, 2e-3


def played(loop, centre, half, n=200):
    rng = np.random.default_rng(0)
    begun = np.asarray(centre) + rng.uniform(-half, half, (n, len(centre)))
    begun[:2] = np.asarray(centre) - half, np.asarray(centre) + half
    return list(states(loop, begun, natures(loop, n, STEPS, rng)))


@pytest.mark.parametrize("name", LOOPS)
def test_the_prover_s_tubes_hold_every_state(name):
    loop, centre = LOOPS[name]
    box = Boxes(np.array([centre]) - HALF, np.array([centre]) + HALF)
    sets = tubes.Tubes.of(box)
    for now in played(loop, centre, HALF)[1:]:
        sets = tubes.image(loop, sets)
        held = sets.boxes
        inside = (held.low[:, None] <= now) & (now <= held.high[:, None])
        assert inside.all(axis=2).any(axis=0).all()


@pytest.mark.parametrize("name", LOOPS)
def test_the_checker_s_tubes_hold_every_state(name):
    loop, centre = LOOPS[name]
    steps = Steps(loop.tree, loop.plant, loop.noise, True)
    tube = checker_tubes.tube_of(np.array([centre]) - HALF, np.array([centre]) + HALF)
    for now in played(loop, centre, HALF)[1:]:
        tube = checker_tubes.image(steps, tube)
        if not np.isfinite(tube.axes).all():
            assert name == "a tank that is disturbed"  # its outflow meets an end; nothing is known
            break
        columns = tube.columns()
        inside = [
            (column.low[:, None] <= now[:, at]) & (now[:, at] <= column.high[:, None])
            for at, column in enumerate(columns)
        ]
        assert np.all(inside, axis=0).any(axis=0).all()


def test_both_cases_of_a_plant_s_condition_are_followed():
    """Where an angle jumps from π to -π both sides get a tube, and no tube in between."""
    loop, centre = LOOPS["an angle that jumps"]
    low, high = np.array([centre]) - HALF, np.array([centre]) + HALF
    sets, tube = tubes.Tubes.of(Boxes(low, high)), checker_tubes.tube_of(low, high)
    steps, jumped = Steps(loop.tree, loop.plant, loop.noise, True), False
    for now in played(loop, centre, HALF)[1:]:
        sets, tube = tubes.image(loop, sets), checker_tubes.image(steps, tube)
        jumped |= bool((now[:, 1] > 3).any() and (now[:, 1] < -3).any())
        assert (sets.boxes.high - sets.boxes.low).max() < 0.1
        assert max((each.high - each.low).max() for each in tube.columns()) < 0.1
    assert jumped


def test_tubes_stay_narrow_where_boxes_grow():
    """What swings turns boxes into ever larger ones; tubes turn with it."""
    loop, centre = LOOPS["Acrobot"]
    box = Boxes(np.array([centre]) - 1e-4, np.array([centre]) + 1e-4)
    boxed, sets = box, tubes.Tubes.of(box)
    for _ in range(12):
        boxed, sets = loop.image(boxed), tubes.image(loop, sets)
    widths = [(each.high - each.low).max() for each in (sets.boxes, boxed)]
    assert widths[0] < 0.01 * widths[1]


QUESTION = (
    "from |joint 1| <= 0.002 and |joint 2| <= 0.002 and |angular velocity of joint 1| <= 0.002 "
    "and |angular velocity of joint 2| <= 0.002 reaches height > -1.9 within 20 steps"
)


@pytest.fixture(scope="module")
def proof():
    asked = parse(QUESTION, SWINGING, ACROBOT)
    assert isinstance(asked, InTheLoop)
    claim = claim_of(asked, ACROBOT)
    judge = Judge(ACROBOT, claim)
    loop = loop_of(SWINGING, ACROBOT, claim)
    *_, found = attempts(loop, judge, np.inf)
    assert found.is_proof and found.with_tubes
    return claim, found


def written(claim, found, **changes):
    content = certificate.certificate(
        SWINGING, ACROBOT, claim, QUESTION, replace(found, **changes), made={}
    )
    return recheck(content, SWINGING, ACROBOT)


def test_the_checker_accepts_a_proof_of_tubes(proof):
    assert written(*proof).holds


def test_a_piece_of_the_start_is_missing(proof):
    claim, found = proof
    first = found.layers[0]
    rest = first.take(np.arange(1, len(first)))
    verdict = written(claim, found, layers=[rest, *found.layers[1:]])
    assert not verdict.holds and "cell without a box" in verdict.reason


def test_it_ends_before_everything_arrives(proof):
    verdict = written(*proof, stride=2)
    assert not verdict.holds and verdict.reason == "not everything arrives"


def test_tubes_prove_nothing_for_ever(proof):
    verdict = written(*proof, closes=True)
    assert not verdict.holds and verdict.reason == "tubes show nothing for ever"
