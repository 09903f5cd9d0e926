"""Tubes of the prover and of the checker, against states that were played."""

import re
from dataclasses import replace

import numpy as np
import pytest
from loops import DAMPING, DOUBLE, TANK

from crisptree.crisp import CrispTree
from crisptree.verify import certificate, checker_tubes, tubes
from crisptree.verify.checker_polynomials import starting
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
        assert sets.is_known.all() and inside.all(axis=2).any(axis=0).all()


@pytest.mark.parametrize("name", LOOPS)
def test_the_checker_s_tubes_hold_every_state(name):
    loop, centre = LOOPS[name]
    steps = Steps(loop.tree, loop.plant, loop.noise, True)
    low, high = np.array([centre]) - HALF, np.array([centre]) + HALF
    tube = checker_tubes.Tube(starting(low, high))
    for now in played(loop, centre, HALF)[1:]:
        tube = checker_tubes.image(steps, tube)
        low, high = tube.bounds
        inside = (low[:, None] <= now) & (now <= high[:, None])
        assert np.isfinite([low, high]).all() and inside.all(axis=2).any(axis=0).all()


@pytest.mark.parametrize("name", ["Acrobot", "Pendulum", "a linear leaf"])
def test_states_lie_where_the_polynomials_of_their_start_say(name):
    """Not only in the tube's bounds: at the start's own place in it, up to the rest."""
    loop, centre = LOOPS[name]
    low, high = np.array([centre]) - HALF, np.array([centre]) + HALF
    sets, tube = tubes.Tubes.of(Boxes(low, high)), checker_tubes.Tube(starting(low, high))
    steps = Steps(loop.tree, loop.plant, loop.noise, True)
    begun, *later = played(loop, centre, HALF)
    places = (begun - centre) / HALF
    for now in later:
        sets, tube = tubes.image(loop, sets), checker_tubes.image(steps, tube)
        assert len(sets) == tube.count == 1
        for at, (form, state) in enumerate(zip(sets.forms, tube.states, strict=True)):
            powers = form.shape.exponents
            alone = ~powers[:, len(centre) :].any(axis=1)
            values = np.prod(places[:, None] ** powers[alone, : len(centre)], axis=2)
            rest = np.abs(form.terms[~alone, 0]).sum() + form.radius[0]
            assert (np.abs(now[:, at] - values @ form.terms[alone, 0]) <= rest).all()
            assert rest < 1e-3 * form.reach[0]
            # The checker's polynomial is the same function, written in another order.
            moved = np.abs(state.coefficients[state.basis.first, 0])
            assert moved == pytest.approx(np.abs(form.terms[form.shape.symbols[: len(centre)], 0]))


def test_both_cases_of_a_plant_s_condition_are_followed():
    """Where an angle jumps from π to -π both sides get a tube, and no tube in between."""
    loop, centre = LOOPS["an angle that jumps"]
    low, high = np.array([centre]) - HALF, np.array([centre]) + HALF
    sets, tube = tubes.Tubes.of(Boxes(low, high)), checker_tubes.Tube(starting(low, high))
    steps, jumped = Steps(loop.tree, loop.plant, loop.noise, True), False
    for now in played(loop, centre, HALF)[1:]:
        sets, tube = tubes.image(loop, sets), checker_tubes.image(steps, tube)
        jumped |= bool((now[:, 1] > 3).any() and (now[:, 1] < -3).any())
        assert (sets.boxes.high - sets.boxes.low).max() < 0.1
        assert (tube.bounds[1] - tube.bounds[0]).max() < 0.1
    assert jumped


def test_leaves_that_do_the_same_are_followed_once():
    tree = CrispTree.from_nested(
        (
            "pole angular velocity",
            0.08,
            "push right",
            ("pole angle", 0.5, "push left", "push right"),
        ),
        CART_POLE.feature_names,
        CART_POLE.actions.names,
    )
    low, high = np.array([[0.0, 0.1, 0.02, 0.078]]), np.array([[0.0, 0.1, 0.02, 0.082]])
    sets, met = tubes.Tubes.of(Boxes(low, high)), np.zeros((1, len(tree.nodes)), bool)
    steps = Steps(tree, CART_POLE, (), True)
    assert len(tubes.image(Loop(tree, CART_POLE), sets, met)) == 1
    assert checker_tubes.image(steps, checker_tubes.Tube(starting(low, high))).count == 1
    reached = set(np.flatnonzero(met[0]).tolist())
    assert reached == steps.reached and len(reached) == 2


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
    "from |joint 1| <= 0.06 and |joint 2| <= 0.06 and |angular velocity of joint 1| <= 0.06 "
    "and |angular velocity of joint 2| <= 0.06 reaches height > -1.9 within 20 steps"
)


@pytest.fixture(scope="module")
def proof():
    asked = parse(QUESTION, SWINGING, ACROBOT)
    assert isinstance(asked, InTheLoop)
    claim = claim_of(asked, ACROBOT)
    judge = Judge(ACROBOT, claim)
    loop = loop_of(SWINGING, ACROBOT, claim)
    *_, found = attempts(loop, judge, np.inf)
    assert found.is_proof and isinstance(found, tubes.TubeAttempt)
    return claim, found


def rechecked(claim, found, halved=None, **changes):
    content = certificate.certificate(SWINGING, ACROBOT, claim, QUESTION, found, made={})
    if halved is not None:
        content["proof"] = {"halved": halved}
    content = {**content, **changes}
    content = {**content, "sha256": certificate.digest(content)}
    return recheck(content, SWINGING, ACROBOT)


def test_the_checker_accepts_a_proof_of_tubes(proof):
    verdict = rechecked(*proof)
    assert verdict.holds and verdict.boxes == proof[1].boxes == len(proof[1].halved) // 2 + 1


def test_the_start_was_halved(proof):
    assert proof[1].boxes > 1  # or the next tests say nothing


def test_a_piece_of_the_start_is_missing(proof):
    claim, found = proof
    content = certificate.certificate(SWINGING, ACROBOT, claim, QUESTION, found, made={})
    words = content["proof"]["halved"].split()
    verdict = rechecked(claim, found, halved=" ".join(words[:-1]))
    assert not verdict.holds and verdict.reason == "a piece of the start is missing"


@pytest.mark.parametrize(
    ("halved", "reason"),
    [
        (".", "not everything arrives|spreads too far"),
        (". .", "it cuts more pieces than there are"),
        ("4 . .", "it halves a state that is not there"),
        ("x", "the certificate is damaged"),
        ("", "a piece of the start is missing"),
    ],
)
def test_other_pieces_prove_nothing(proof, halved, reason):
    verdict = rechecked(*proof, halved=halved)
    assert not verdict.holds and re.search(reason, verdict.reason)


def test_it_ends_before_everything_arrives(proof):
    claim, found = proof
    question = QUESTION.replace("within 20", "within 2")
    claim = replace(claim, steps=2)
    verdict = rechecked(claim, found, property=question)
    assert not verdict.holds and verdict.reason == "not everything arrives"


def test_tubes_prove_nothing_for_ever(proof):
    question = QUESTION.split(" reaches")[0] + " stays height < 3 for ever"
    asked = parse(question, SWINGING, ACROBOT)
    assert isinstance(asked, InTheLoop)
    verdict = rechecked(claim_of(asked, ACROBOT), proof[1], property=question)
    assert not verdict.holds and verdict.reason == "tubes show nothing for ever"


def test_a_check_without_time_is_undecided(proof):
    claim, found = proof
    content = certificate.certificate(SWINGING, ACROBOT, claim, QUESTION, found, made={})
    verdict = recheck(content, SWINGING, ACROBOT, seconds=1e-6)
    assert not verdict.holds and verdict.is_undecided
