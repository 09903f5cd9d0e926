import pytest

from crisptree.pipeline import budget
from crisptree.pipeline.budget import SPARE, TIMED_UPDATES, steps_within
from crisptree.pipeline.recipe import CARTPOLE
from crisptree.pipeline.settings import Settings


@pytest.fixture(autouse=True)
def rate(monkeypatch) -> float:
    """A machine that takes two seconds for the updates that are timed, and an hour to compile."""
    clock = [0.0]
    made: list[int] = []

    def segment(agents, n):
        clock[0] += 2.0 if made else 3600.0
        made.append(n)
        return agents, {}

    def fresh_segment(*_):
        made.clear()
        return segment

    monkeypatch.setattr(budget, "segment_for", fresh_segment)
    monkeypatch.setattr(budget.time, "monotonic", lambda: clock[0])
    return TIMED_UPDATES * CARTPOLE.learning.steps_per_update / 2.0


def test_a_training_alone_takes_its_share_of_the_budget(rate):
    steps = steps_within(Settings("CartPole-v1", paper=True, budget=10.0))
    assert steps / rate == pytest.approx(600 * SPARE, rel=1e-3)


def test_more_time_more_steps_more_to_do_fewer():
    def steps(**options) -> int:
        return steps_within(Settings("CartPole-v1", **options))

    assert steps(budget=10.0) == pytest.approx(2 * steps(budget=5.0), rel=1e-3)
    assert steps(budget=10.0, seeds=5) == pytest.approx(steps(budget=2.0), rel=1e-3)
    assert steps(budget=10.0, paper=True, seeds=5) == pytest.approx(
        steps(budget=2.0, paper=True), rel=1e-3
    )
    # a smaller tree has more rungs to climb down
    assert steps(budget=10.0, leaves=3) < steps(budget=10.0, leaves=12) < steps(budget=10.0, mlp=1)


def test_there_is_always_an_update():
    assert steps_within(Settings("CartPole-v1", budget=1e-9)) == CARTPOLE.learning.steps_per_update
