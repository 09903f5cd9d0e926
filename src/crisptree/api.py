"""`crisptree.train` for Python: the settings of the command line as keyword arguments."""

from os import PathLike
from pathlib import Path
from typing import Any

from crisptree.learn.cache import keep_compiled
from crisptree.pipeline.report import Silent, terminal
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.train import Trained, first_free
from crisptree.pipeline.train import train as train_settings


def train(
    env: str,
    *,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    **settings: Any,
) -> Trained:
    """Train a tree on `env`, make it crisp, score it on unseen seeds and draw it.

    `settings` are those of `crisptree train` (see `crisptree.pipeline.settings.Settings`):
    leaves, rules, seed, steps, teacher, start_from, paper, …
    """
    keep_compiled()
    asked = Settings(env, **settings)
    path = first_free(env) if out is None else Path(out)
    if not progress:
        return train_settings(asked, path, resume=resume, tell=Silent())
    with terminal() as tell:
        return train_settings(asked, path, resume=resume, tell=tell)
