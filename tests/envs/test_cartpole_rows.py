import numpy as np
import pytest

from crisptree.crisp import CrispTree
from crisptree.envs import host
from crisptree.envs.cartpole_rows import CartPoleRows, play_rows
from crisptree.envs.score import play
from crisptree.envs.spaces import describe, make

TASK = describe("CartPole-v1")
ANGLE, SPIN, LEFT, RIGHT = 2, 3, 0, 1


def tree(nested) -> CrispTree:
    return CrispTree.from_nested(nested, TASK.feature_names, TASK.action_names, TASK.env_id)


GOOD = tree((SPIN, 0.5, RIGHT, (SPIN, -0.5, (ANGLE, 0.0, RIGHT, LEFT), LEFT)))
CLUMSY = tree((SPIN, 0.3, RIGHT, LEFT))


def steps_in_gymnasium(policy: CrispTree, seed: int) -> float:
    env = make("CartPole-v1")
    at, total, over = env.reset(seed=seed)[0], 0.0, False
    while not over:
        at, reward, terminated, truncated, _ = env.step(int(policy.predict(at)[0]))
        total, over = total + float(reward), terminated or truncated
    return total


@pytest.mark.parametrize("n_steps", [120, 1100])
def test_host_environments_bit_for_bit(n_steps):
    """Falls, time limits and the episodes after them included."""
    ours, theirs = CartPoleRows(5), host.GymnasiumEnvs("CartPole-v1", 5)
    at = ours.reset(7)
    assert at.tobytes() == theirs.reset(7).tobytes()
    for _ in range(n_steps):
        policy = GOOD if n_steps > 500 else CLUMSY
        action = np.asarray(policy.predict(at)[0])
        one, other = ours.step(action), theirs.step(action)
        for part, expected in zip(one, other, strict=True):
            assert part.dtype == expected.dtype
            assert part.tobytes() == expected.tobytes()
        at = one.observation
    ours.close()
    theirs.close()


@pytest.mark.parametrize("policy", [GOOD, CLUMSY])
def test_episodes_are_those_of_gymnasium(policy):
    seeds = [2**30 + 17, 3, 5, 3]
    returns = play_rows(lambda _, at: policy.predict(at)[0], seeds)
    assert returns.tolist() == [steps_in_gymnasium(policy, seed) for seed in seeds]
    assert play(policy, "CartPole-v1", seeds).tolist() == returns.tolist()


def test_who_decides_is_told_which_episodes_still_run():
    told = []

    def decide(number, at):
        told.append(number.tolist())
        assert len(at) == len(number)
        return np.where(number == 1, GOOD.predict(at)[0], CLUMSY.predict(at)[0])

    returns = play_rows(decide, [1, 2, 3])
    assert told[0] == [0, 1, 2]
    assert told[-1] == [1]
    assert returns[1] == 500
    assert len(told) == 500


@pytest.mark.parametrize("policy", [GOOD, CLUMSY])
def test_the_report_counts_up_to_all(policy):
    finished = []
    play(policy, "CartPole-v1", [1, 2, 3], report=finished.append)
    assert finished == sorted(finished)
    assert finished[-1] == 3
