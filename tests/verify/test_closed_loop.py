import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from loops import DAMPING, DOUBLE, FILLING, TANK
from verify_trees import FALLING, STEADY, grown

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify import check as check_all
from crisptree.verify import falsify, prove, simulate, verify
from crisptree.verify.checker import check
from crisptree.verify.plants.classic import CART_POLE, MOUNTAIN_CAR
from crisptree.verify.prove import Cells
from crisptree.verify.replay import episode

SWINGING = CrispTree.from_nested(
    ("velocity", -0.0001, 2, 0),
    MOUNTAIN_CAR.feature_names,
    MOUNTAIN_CAR.actions.names,
    env_id="MountainCar-v0",
)


def test_a_proof_and_its_certificate():
    proved: Any = prove(STEADY, "from |all| <= 0.03 stays up for 12 steps")
    assert proved.answer.verdict == "holds" and proved.certificate is not None
    assert check(proved.certificate, STEADY, CART_POLE).holds


def test_a_counterexample_replays():
    answer: Any = verify(FALLING, "from |all| <= 0.05 stays up for 200 steps")
    assert answer.verdict == "fails" and "replayed in gymnasium's CartPole-v1" in answer.why
    assert all(abs(value) <= 0.05 for value in answer.observation)
    states = episode(FALLING, CART_POLE, np.array(answer.observation), 200)
    assert len(states) == answer.details["step"] + 1
    assert np.array_equal(states[-1], answer.details["state"])


def test_a_rare_counterexample_is_found():
    """STEADY ignores the cart, so only starts near the edge run out of track."""
    question = "from |cart position| <= 2.2 and |cart velocity| <= 0.3 stays up for 30 steps"
    assert verify(STEADY, question).verdict == "fails"


def test_a_goal_of_one_s_own():
    held = verify(STEADY, "from |all| <= 0.01 stays |pole angle| <= 0.06 for 8 steps")
    assert held.verdict == "holds"
    broken = verify(STEADY, "from |all| <= 0.05 stays |pole angle| <= 0.03 for 15 steps")
    assert broken.verdict == "fails" and abs(broken.details["state"][2]) > 0.03


def test_a_start_outside_the_goal_fails_at_once():
    answer: Any = verify(STEADY, "from |pole angle| <= 0.2 stays |pole angle| <= 0.1 for 5 steps")
    assert answer.verdict == "fails" and answer.details["step"] == 0


def test_neither_in_time_is_undecided_and_says_how_far_it_got():
    begun = time.monotonic()
    answer: Any = verify(STEADY, "from |all| <= 0.05 stays up for 90 steps", seconds=1.0)
    assert answer.verdict == "undecided" and time.monotonic() - begun < 20
    assert 0 <= answer.details["proved_steps"] < 90
    assert "neither a proof nor a counterexample was found in" in answer.why


def test_the_goal_is_reached_from_every_start():
    proved: Any = prove(
        SWINGING, "from -0.55 <= position <= -0.54 reaches the goal within 140 steps"
    )
    assert proved.answer.verdict == "holds"
    assert check(proved.certificate, SWINGING, MOUNTAIN_CAR).holds
    early = verify(SWINGING, "from reset reaches the goal within 80 steps")
    assert early.verdict == "fails" and "not reached in 80 steps" in early.why


def test_a_tank_stays_for_ever_whatever_disturbs_it():
    question = "from 0.45 <= level <= 0.55 stays 0.43 <= level <= 0.57 for ever"
    proved: Any = prove(FILLING, question, plant=TANK)
    assert proved.answer.verdict == "holds" and "for ever" in proved.answer.why
    assert check(proved.certificate, FILLING, TANK).holds
    tighter = "from 0.48 <= level <= 0.52 stays 0.47 <= level <= 0.57 for ever"
    answer: Any = verify(FILLING, tighter, plant=TANK)
    assert answer.verdict == "fails" and len(answer.details["disturbance"][0]) == 1


@pytest.mark.parametrize(
    ("with_", "verdict"),
    [
        ("with noise 0.001 on level", "holds"),
        ("with noise 0.2 on level", "fails"),
        ("with delay", "fails"),
        ("with delay, disturbance 0.0", "undecided"),
    ],
)
def test_noise_and_delay(with_, verdict):
    question = f"from 0.45 <= level <= 0.55 stays 0.42 <= level <= 0.58 for ever {with_}"
    seconds = 60.0 if verdict == "holds" else 4.0
    proved: Any = prove(FILLING, question, plant=TANK, seconds=seconds)
    if verdict == "undecided":  # whichever way it is, it is not wrong
        assert proved.answer.verdict in ("holds", "undecided", "fails")
        return
    assert proved.answer.verdict == verdict
    if verdict == "holds":
        assert check(proved.certificate, FILLING, TANK).holds


def test_a_linear_leaf_brings_a_plant_to_rest():
    question = (
        "from |all| <= 0.5 reaches |position| <= 0.2 and |velocity| <= 0.3 "
        "within 40 steps and stays"
    )
    proved: Any = prove(DAMPING, question, plant=DOUBLE)
    assert proved.answer.verdict == "holds" and proved.certificate["proof"]["with_forms"]
    assert check(proved.certificate, DAMPING, DOUBLE).holds


def test_cells_of_one_s_own():
    question = "from 0.45 <= level <= 0.55 stays 0.43 <= level <= 0.57 for ever"
    cells = Cells({"level": 1 / 64, "outflow": 1 / 128}, stride=2)
    proved: Any = prove(FILLING, question, plant=TANK, cells=cells)
    assert proved.answer.verdict == "holds" and proved.certificate["proof"]["stride"] == 2
    with pytest.raises(CrisptreeError, match="there is no state 'depth'; there are level, outflow"):
        prove(FILLING, question, plant=TANK, cells=Cells({"depth": 1.0}))


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("from x[0] + x[1] < 1 stays up for 5 steps", "the start must be comparisons of single"),
        ("from |all| < 1 stays |x[0]| > 1 for 5 steps", "the region must be comparisons of single"),
        ("from x[0] < 1 stays up for 5 steps", "needs a lower and an upper bound"),
        ("from x[0] < 1 and x[0] > 1 stays up for 5 steps", "no state meets the start"),
        ("from |all| < 1 reaches the goal within 5 steps", "has no goal"),
        ("from |all| < 1e400 stays up for 5 steps", "larger than any float64"),
    ],
)
def test_wrong_starts_and_goals(question, message):
    with pytest.raises(CrisptreeError, match=message):
        verify(STEADY, question)


def test_what_ends_in_its_goal_does_not_stay_there():
    with pytest.raises(CrisptreeError, match="episodes of MountainCar end in its goal"):
        verify(SWINGING, "from reset reaches the goal within 200 steps and stays")
    with pytest.raises(CrisptreeError, match="the plant tank has no limits"):
        verify(FILLING, "from reset stays up for 5 steps", plant=TANK)


def test_plants_that_do_not_fit():
    with pytest.raises(CrisptreeError, match="the equations of 'None' are not known"):
        verify(grown(4, 0, 4, 2), "from |all| <= 0.05 stays up for 5 steps")
    with pytest.raises(CrisptreeError, match="the policy sees 4 features, the plant tank shows 2"):
        verify(STEADY, "from reset stays level < 3 for 5 steps", plant=TANK)
    one = CrispTree.leaf(0, TANK.feature_names, ("only",))
    with pytest.raises(CrisptreeError, match="actions are discrete with 1 names"):
        verify(one, "from reset stays level < 3 for 5 steps", plant=TANK)


def test_a_model_that_disagrees_with_its_environment_is_refused():
    def faster(xp, state, action, disturbance):
        position, *rest = CART_POLE.step(xp, state, action, disturbance)
        return position + 0.001, *rest

    wrong = replace(CART_POLE, name="mine", step=faster)
    message = "the plant mine disagrees with CartPole-v1: after step 1 the environment has"
    with pytest.raises(CrisptreeError, match=message):
        verify(STEADY, "from |all| <= 0.01 stays up for 3 steps", plant=wrong)


def test_the_search_keeps_to_its_time_and_memory_in_a_million_steps(monkeypatch):
    played, drawn = [], []

    def counted(loop, begun, nature):
        for state in simulate.states(loop, begun, nature):
            played.append(len(state))
            yield state

    def measured(*given):
        drawn.append(simulate.natures(*given))
        return drawn[-1]

    monkeypatch.setattr(falsify, "states", counted)
    monkeypatch.setattr(falsify, "natures", measured)
    claim = "from 0.45 <= level <= 0.55 stays 0 <= level <= 2 for 1000000 steps with noise 0.001"
    verify(FILLING, claim, plant=TANK, seconds=0.01)
    assert len(played) <= falsify.LONGEST + 2
    assert drawn[0].acting.size <= falsify.MOST_NUMBERS


def test_the_time_is_kept_with_thousands_of_features():
    names = tuple(f"pixel {at}" for at in range(4_096))
    rng = np.random.default_rng(0)

    def node(depth):
        if not depth:
            return int(rng.integers(2))
        feature, threshold = int(rng.integers(4_096)), float(rng.normal())
        return feature, threshold, node(depth - 1), node(depth - 1)

    tree = CrispTree.from_nested(node(6), names, ("left", "right"))
    begun = time.process_time()
    answers = check_all(tree, ["never left when pixel 7 > 2", "increasing in pixel 9"], seconds=5.0)
    assert {answer.verdict for answer in answers} <= {"holds", "fails", "undecided"}
    assert time.process_time() - begun < 11


def _boom(xp, state, action, disturbance):
    raise ValueError("boom")


def _numpy_only(xp, state, action, disturbance):
    return [np.sin(each) for each in state]


def _too_few(xp, state, action, disturbance):
    return state[:1]


@pytest.mark.parametrize("step", [_boom, _numpy_only, _too_few])
def test_equations_that_do_not_compute(step):
    plant = replace(TANK, name="broken", step=step)
    with pytest.raises(CrisptreeError, match="the plant 'broken' failed in its equations"):
        verify(FILLING, "from reset stays level < 2 for 3 steps", plant=plant)
