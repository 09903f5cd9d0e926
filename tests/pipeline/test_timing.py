import time
from dataclasses import asdict, replace
from types import SimpleNamespace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.task import task_of
from crisptree.learn.schedule import Schedule
from crisptree.pipeline.timing import MOST_RESERVED, RESERVED, KeepTime, Measurement, TimeLeft


class State(eqx.Module):
    schedule: Schedule

    @property
    def update(self):
        return self.schedule.update

    @property
    def n_updates(self):
        return self.schedule.n_updates

    @property
    def progress(self):
        return self.schedule.fraction


def stacked(update: int, n_updates: int) -> State:
    schedule = Schedule.start(n_updates)
    schedule = eqx.tree_at(
        lambda s: (s.update, s.n_updates, s.pace_sum),
        schedule,
        (jnp.array([update]), jnp.array([n_updates]), jnp.array([float(update)])),
    )
    return State(schedule)


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(time=1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: now.time)
    return now


def after_two_segments(clock, deadline) -> State:
    """A hundred updates, of which twenty took a second each."""
    keep = KeepTime(float(deadline))
    keep(stacked(10, 100), [])
    clock.time += 10
    return keep(stacked(20, 100), [])


def test_a_training_with_time_enough_is_left_alone(clock):
    assert int(after_two_segments(clock, 1000 + 90).n_updates[0]) == 100
    clock.time = 1000.0
    assert int(after_two_segments(clock, float("inf")).n_updates[0]) == 100


def test_a_schedule_that_is_too_long_ends_on_time_from_where_it_stands(clock):
    shortened = after_two_segments(clock, 1010 + 40)
    assert float(shortened.progress[0]) == pytest.approx(0.2)
    left = (1 - float(shortened.progress[0])) * int(shortened.n_updates[0])
    assert left == pytest.approx(40, abs=1)


def test_a_deadline_that_has_passed_leaves_one_update(clock):
    shortened = after_two_segments(clock, 990.0)
    left = (1 - np.asarray(shortened.progress)) * np.asarray(shortened.n_updates)
    assert left[0] <= 1


def test_the_time_of_candidates_leaves_room_for_a_few_episodes(clock):
    task = task_of("CartPole-v1")
    fast, slow = Measurement(10_000.0, 100.0), Measurement(20.0, 100.0)
    shares = [
        TimeLeft.of(2.0, measured, task, 1000.0).reserved / 120 for measured in (fast, slow, None)
    ]
    assert shares == pytest.approx([RESERVED, MOST_RESERVED, RESERVED])
    assert TimeLeft.of(None, slow, task, 0.0) == TimeLeft(measured=slow)


def test_what_was_used_before_counts(clock):
    began, task = 1000.0, task_of("CartPole-v1")
    clock.time += 30
    times = TimeLeft.of(1.0, None, task, began)
    assert times.latest + times.reserved - time.time() == pytest.approx(30, abs=1)
    assert times.seconds_to_choose() == pytest.approx(60 * RESERVED / 2, abs=0.5)
    late = replace(times, latest=times.latest - 28)
    assert late.seconds_to_choose() == pytest.approx(1, abs=0.5)
    again = TimeLeft.from_dict(asdict(replace(times, measured=Measurement(5.0, 6.0))))
    assert again.measured == Measurement(5.0, 6.0)
