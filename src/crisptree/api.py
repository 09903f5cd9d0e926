"""`crisptree.train` for Python: the settings of the command line as keyword arguments."""

from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any

from crisptree.learn.cache import keep_compiled
from crisptree.pipeline.report import Silent, terminal
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.track import Hear, Tracker, followed, tracked
from crisptree.pipeline.train import Trained, first_free
from crisptree.pipeline.train import train as train_settings


def train(
    env: str,
    *,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    on_progress: Hear | None = None,
    track: Tracker | None = None,
    **settings: Any,
) -> Trained:
    """Train a tree on `env`, make it crisp, score it on unseen seeds and draw it.

    `settings` are those of `crisptree train` (see `crisptree.pipeline.settings.Settings`):
    leaves, rules, seed, steps, teacher, start_from, paper, …

    `on_progress` is called with a dict for every update: `stage`, `step`, `return` (none where no
    episode ended), `steps_per_second`, the losses, `run` and `total_step`. If it raises, training
    stops, and `resume=True` goes on. `track` writes the same for TensorBoard or W&B.
    """
    keep_compiled()
    asked = Settings(env, **settings)
    path = first_free(env) if out is None else Path(out)
    with ExitStack() as stack:
        tell = stack.enter_context(terminal()) if progress else Silent()
        for hear in (on_progress, stack.enter_context(tracked(track, path, asked.to_dict()))):
            tell = stack.enter_context(followed(tell, path, hear))
        return train_settings(asked, path, resume=resume, tell=tell)
