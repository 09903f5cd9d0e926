"""Following a training from outside: a Python function, TensorBoard, Weights & Biases.

Every update leaves a line in a `metrics.jsonl`, whichever process made it. A `Follower` reads the
new lines whenever the training says that it moved, and hands them on one by one.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import to_dict
from crisptree.pipeline.progress import Reporter
from crisptree.pipeline.run_directory import RunDirectory

Row = dict[str, Any]
"""A line of metrics.jsonl and what its place says: `run` (its folder and start, "" where there is
one alone), `stage_number` (that of the stage's folder) and `total_step`, which goes on counting
where `step` starts anew with each stage."""
OnProgress = Callable[[Row], object]
Tracker = Literal["tensorboard", "wandb"]


class Place(NamedTuple):
    """Where the training in one folder stands."""

    stage: str = ""
    number: int = 0
    steps_before: int = 0
    step: int = 0


class Follower:
    """A reporter that says what another one says, and tells `on_progress` of every update."""

    def __init__(self, report: Reporter, out: Path, on_progress: OnProgress) -> None:
        self._report, self._out, self._on_progress = report, out, on_progress
        self._read: dict[Path, int] = {}
        self._places: dict[Path, Place] = {}
        for path in self._files():
            for _ in self._rows(path, _kept(path)):
                """Lines of an earlier run are counted and not passed on again."""

    def advance(self, stage: str, done: float, text: str) -> None:
        self._report.advance(stage, done, text)
        self.catch_up()

    def note(self, text: str) -> None:
        self._report.note(text)
        self.catch_up()

    def catch_up(self) -> None:
        """Pass on every line written since the last time."""
        for path in self._files():
            for row in self._rows(path):
                self._on_progress(row)

    def _files(self) -> list[Path]:
        return sorted(self._out.rglob("metrics.jsonl"))

    def _rows(self, path: Path, until: int = -1) -> Iterator[Row]:
        start = self._read.get(path, 0)
        with open(path, "rb") as file:
            file.seek(start)
            new = file.read(until)
        whole = new[: new.rfind(b"\n") + 1]  # a process may be in the middle of a line
        self._read[path] = start + len(whole)
        for line in whole.splitlines():
            try:
                yield self._counted(path.parent, json.loads(line))
            except (ValueError, TypeError, KeyError, RecursionError):
                raise CrisptreeError(f"{path} is damaged: a line is no row of figures") from None

    def _counted(self, folder: Path, line: Row) -> Row:
        name = folder.relative_to(self._out).as_posix()
        parts = [name] if name != "." else []
        parts += [f"start-{line['start']}"] if "start" in line else []
        # Stages differ in their starts, so their steps are counted by folder.
        place = self._places.get(folder, Place())
        if place.stage != line["stage"]:
            before = place.steps_before + place.step
            place = Place(line["stage"], _number(folder, line["stage"]), before)
        self._places[folder] = place = place._replace(step=line["step"])
        return {
            "run": "/".join(parts),
            "stage_number": place.number,
            "total_step": place.steps_before + place.step,
            **line,
        }


def _number(folder: Path, stage: str) -> int:
    (found,) = folder.glob(f"stages/[0-9][0-9]-{escape(stage)}")
    return int(found.name[:2])


def _kept(path: Path) -> int:
    """How much of a metrics.jsonl a resumed run keeps: what its last checkpoint knew of."""
    folder = RunDirectory(path.parent)
    states = [
        folder.read_checked(str(state.relative_to(path.parent)))
        for state in path.parent.glob("stages/*/checkpoint.json")
    ]
    lengths = [int(state["metrics_length"]) for state in states if state is not None]
    return min([path.stat().st_size, *lengths])


@contextmanager
def followed(report: Reporter, out: Path, on_progress: OnProgress | None) -> Iterator[Reporter]:
    """A reporter that also calls `on_progress` with every update."""
    if on_progress is None:
        yield report
        return
    follower = Follower(report, out, on_progress)
    yield follower
    follower.catch_up()


@contextmanager
def tracked(tracker: str | None, out: Path, config: TrainConfig) -> Iterator[OnProgress | None]:
    """What to call with every row so that `tracker` draws it."""
    if tracker is None:
        yield None
    elif tracker == "tensorboard":
        with _tensorboard(out) as on_progress:
            yield on_progress
    elif tracker == "wandb":
        with _wandb(out, config) as on_progress:
            yield on_progress
    else:
        raise CrisptreeError(f"no tracker '{tracker}': give tensorboard or wandb")


@contextmanager
def _tensorboard(out: Path) -> Iterator[OnProgress]:
    """Event files in `out`/tensorboard, one folder per run; nothing is written before the first
    row, since a run needs an empty directory."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise CrisptreeError(
            "TensorBoard's files need a package: pip install 'crisptree[track]'"
        ) from error
    writers: dict[str, Any] = {}

    def on_progress(row: Row) -> None:
        if row["run"] not in writers:
            writers[row["run"]] = SummaryWriter(str(out / "tensorboard" / row["run"]))
        for name, value in scalars(row).items():
            writers[row["run"]].add_scalar(name, value, row["total_step"])

    try:
        yield on_progress
    finally:
        for writer in writers.values():
            writer.close()


@contextmanager
def _wandb(out: Path, config: TrainConfig) -> Iterator[OnProgress]:
    """One run of Weights & Biases; several starts or seeds are groups of figures in it, each
    with its own count of steps."""
    try:
        import wandb  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise CrisptreeError("Weights & Biases needs its package: pip install wandb") from error
    logged = wandb.init(project="crisptree", name=out.name, config=to_dict(config))
    known: set[str] = set()

    def on_progress(row: Row) -> None:
        head = f"{row['run']}/" if row["run"] else ""
        if head not in known:
            known.add(head)
            logged.define_metric(f"{head}total_step")
            logged.define_metric(f"{head}*", step_metric=f"{head}total_step")
        every = {**scalars(row), "total_step": row["total_step"]}
        logged.log({f"{head}{name}": value for name, value in every.items()})

    try:
        yield on_progress
    finally:
        logged.finish()


def scalars(row: Row) -> dict[str, int | float]:
    """The figures of a row, and its stage by number; what is unknown is left out."""
    names = set(row) - {"run", "stage", "stage_number", "start", "step", "total_step"}
    figures = {name: row[name] for name in sorted(names) if row[name] is not None}
    return {**figures, "stage": row["stage_number"]}
