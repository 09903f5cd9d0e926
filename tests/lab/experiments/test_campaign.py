"""The loop over a backend that answers at once."""

import io

import pytest
from made import ENV, made
from rich.console import Console
from rich.progress import Progress as Bars

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.backend import Outcome
from crisptree.lab.experiments.campaign import run_grid
from crisptree.lab.experiments.claims import Claims
from crisptree.lab.experiments.plan import Grid
from crisptree.lab.experiments.progress import Progress
from crisptree.lab.experiments.run_cell import Finished
from crisptree.lab.experiments.store import Store

GRID = Grid(
    (ENV,), ("mlp", "state-action-dt", "random"), leaves=(2,), hidden_layers=(0, 1), n_seeds=2
)


class Instant:
    """Every job is done at once, unless its key is in `bad`; stops after `most` jobs."""

    def __init__(self, bad: str = "never", most: int = 10**6) -> None:
        self.jobs, self.waiting, self.bad, self.most, self.closed = [], [], bad, most, False

    @property
    def room(self) -> int:
        return 2 - len(self.waiting)

    def submit(self, job) -> None:
        self.jobs.append(job)
        self.waiting.append(job)

    def wait(self, seconds: float) -> list[Outcome]:
        if len(self.jobs) > self.most:
            raise KeyboardInterrupt
        ended, self.waiting = self.waiting, []
        return [self._outcome(job) for job in ended]

    def _outcome(self, job) -> Outcome:
        cell = job.cell
        if self.bad in cell.key:
            return Outcome(job, failure="Traceback\nValueError: bad luck")
        scores = [float(cell.size or 0) + seed for seed in cell.seeds]
        more = {"teacher": cell.teacher, "episodes": cell.episodes}
        record = made(cell.model, cell.size, scores, first_seed=cell.first_seed, **more)
        agents = dict.fromkeys(cell.seeds, b"agent") if cell.model == "mlp" else {}
        return Outcome(job, Finished(record, agents))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def quiet():
    return Progress(Bars(console=Console(file=io.StringIO())))


def test_all_of_a_grid_is_run_once_and_imitators_are_given_their_teacher(tmp_path, quiet):
    store, backend = Store(str(tmp_path)), Instant()
    ended = run_grid(GRID, store, backend, quiet)
    assert sorted(ended.ran) == sorted(record.cell.key for record in store.records())
    assert len(ended.ran) == 2 + 2 + 2 and ended.failed == {} and backend.closed
    taught = [job for job in backend.jobs if job.cell.model == "state-action-dt"]
    assert all(job.teacher[0].size == 1 and job.teacher[1] == b"agent" for job in taught)
    assert all(job.cell.teacher.endswith("#1") for job in taught)
    assert store.listed("claims") == []
    again = Instant()
    assert run_grid(GRID, store, again, quiet).ran == () and again.jobs == []


def test_a_failure_stops_nothing_else_and_is_tried_again_next_time(tmp_path, quiet):
    store = Store(str(tmp_path))
    ended = run_grid(GRID, store, Instant(bad="mlp-1"), quiet)
    assert list(ended.failed.values()) == ["ValueError: bad luck"] and len(ended.ran) == 5
    assert store.listed("failed")[0].endswith(".txt")
    ended = run_grid(GRID, store, Instant(), quiet)
    assert ended.failed == {} and any("mlp-1" in key for key in ended.ran)
    assert store.listed("failed") == []


def test_an_interruption_keeps_what_is_done_and_lets_go_of_the_rest(tmp_path, quiet):
    store, backend = Store(str(tmp_path)), Instant(most=3)
    with pytest.raises(KeyboardInterrupt):
        run_grid(GRID, store, backend, quiet)
    done = {record.cell.key for record in store.records()}
    assert backend.closed and store.listed("claims") == [] and 0 < len(done) < 6
    ended = run_grid(GRID, store, Instant(), quiet)
    assert not done & set(ended.ran) and len(done) + len(ended.ran) == 6


def test_what_another_process_works_on_is_waited_for(tmp_path, quiet, monkeypatch):
    store = Store(str(tmp_path))
    others = Claims(store)
    theirs = made("random", None, (5.0,), episodes=100)
    assert others.take(theirs.cell)

    def finish_elsewhere(seconds: float) -> None:
        store.put(theirs, {})
        others.close()

    monkeypatch.setattr("crisptree.lab.experiments.campaign.time.sleep", finish_elsewhere)
    backend = Instant()
    ended = run_grid(GRID, store, backend, quiet)
    assert theirs.cell.key not in ended.ran
    assert store.record(theirs.cell) == theirs


def test_imitators_without_anyone_to_watch_are_refused_at_once(tmp_path, quiet):
    grid = Grid((ENV,), ("dagger-dt",))
    with pytest.raises(CrisptreeError, match="imitate the best agent of CartPole-v1"):
        run_grid(grid, Store(str(tmp_path)), Instant(), quiet)
