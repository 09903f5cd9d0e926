import numpy as np
import pytest
from verify_trees import FALLING, STEADY, grown

from crisptree.base.errors import CrisptreeError
from crisptree.verify import verify
from crisptree.verify.cartpole import environment


def replayed(tree, start, steps):
    """Whether gymnasium ends the episode at exactly that step."""
    env = environment()
    env.reset(seed=3)
    env.state = np.array(start)
    observation = np.array(start, np.float32)
    for _ in range(steps - 1):
        observation, _, terminated, _, _ = env.step(int(tree.predict(observation)[0]))
        assert not terminated
    return env.step(int(tree.predict(observation)[0]))[2]


def test_a_proof():
    answer = verify(STEADY, "from |all| <= 0.03 stays up for 20 steps")
    assert answer.verdict == "holds" and answer.details["proved_steps"] == 20


def test_a_counterexample_replays():
    answer = verify(FALLING, "from |all| <= 0.05 stays up for 200 steps")
    assert answer.verdict == "fails"
    assert all(abs(value) <= 0.05 for value in answer.observation)
    assert replayed(FALLING, answer.observation, answer.details["step"])


def test_a_rare_counterexample_is_found():
    """STEADY ignores the cart, so only starts near the edge run out of track."""
    question = "from |cart position| <= 2.2 and |cart velocity| <= 0.3 stays up for 30 steps"
    answer = verify(STEADY, question)
    assert answer.verdict == "fails" and replayed(
        STEADY, answer.observation, answer.details["step"]
    )


def test_a_goal_of_one_s_own():
    held = verify(STEADY, "from |all| <= 0.02 stays |pole angle| <= 0.06 for 15 steps")
    assert held.verdict == "holds"
    broken = verify(STEADY, "from |all| <= 0.05 stays |pole angle| <= 0.03 for 15 steps")
    assert broken.verdict == "fails" and abs(broken.details["state"][2]) > 0.03


def test_a_start_outside_the_goal_fails_at_once():
    answer = verify(STEADY, "from |pole angle| <= 0.2 stays |pole angle| <= 0.1 for 5 steps")
    assert answer.verdict == "fails" and answer.details["step"] == 0


def test_neither_in_time_is_undecided_and_says_how_far_it_got():
    answer = verify(STEADY, "from |all| <= 0.05 stays up for 90 steps", seconds=0.5)
    assert answer.verdict == "undecided"
    assert 0 <= answer.details["proved_steps"] < 90
    assert "neither a proof nor a counterexample was found in 0.5 s" in answer.why


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("from x[0] + x[1] < 1 stays up for 5 steps", "the start must be comparisons of single"),
        ("from |all| < 1 stays |x[0]| > 1 for 5 steps", "the goal must be comparisons of single"),
        ("from x[0] < 1 stays up for 5 steps", "needs a lower and an upper bound"),
        ("from x[0] < 1 and x[0] > 1 stays up for 5 steps", "no state meets the start"),
        ("from |all| <= 2 stays up for 5 steps", "within ±π/2"),
    ],
)
def test_wrong_starts_and_goals(question, message):
    with pytest.raises(CrisptreeError, match=message):
        verify(STEADY, question)


def test_unknown_dynamics():
    with pytest.raises(CrisptreeError, match="the dynamics of 'None' are not known"):
        verify(grown(4, 0, 4, 2), "from |all| <= 0.05 stays up for 5 steps")
