"""Beginnings that several runs have in common: they are trained once and copied.

A stage depends on settings, seed and the stages before it, and until the first cut nothing depends
on the size that is asked for. So the first stage (from scratch, or the teacher) is the same for
trees and lists of all sizes; with a teacher, or for a list, the next two (distil, refine) are the
same for all sizes of the shape. A run that finds its beginning here ends with the same bytes.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from crisptree.pipeline.recipe import recipe_for
from crisptree.pipeline.settings import Settings

OF_NO_MATTER = {"leaves": None, "rules": None, "episodes": 1}


class Beginning(NamedTuple):
    name: str
    """Equal for runs whose first `n_stages` stages are the same."""
    n_stages: int


def beginnings_of(settings: Settings) -> list[Beginning]:
    """What a run may have in common with others, the longest first."""
    wide = max(recipe_for(settings.env).wide, settings.size)
    common = {**dataclasses.replace(settings, **OF_NO_MATTER).to_dict(), "wide": wide}
    first = _named({**common}, 1)
    if settings.direct and settings.shape == "tree":
        return [first]
    return [_named({**common, "shape": settings.shape}, 3), first]


def _named(common: dict[str, Any], n_stages: int) -> Beginning:
    text = json.dumps({**common, "n_stages": n_stages}, sort_keys=True)
    return Beginning(hashlib.sha256(text.encode()).hexdigest()[:16], n_stages)


def take(settings: Settings, run: Path, kept: Path) -> None:
    """Copy the longest beginning that is kept into a run that has none of its own."""
    if (run / "stages").exists():
        return
    for beginning in beginnings_of(settings):
        source = kept / beginning.name
        if source.exists():
            shutil.copy(source / "metrics.jsonl", run / "metrics.jsonl")
            shutil.copytree(source / "stages", run / "stages")
            return


def keep(settings: Settings, run: Path, kept: Path) -> None:
    """Copy a run's beginnings to where others find them, whole or not at all."""
    kept.mkdir(parents=True, exist_ok=True)
    for beginning in beginnings_of(settings):
        if (kept / beginning.name).exists():
            continue
        stages = sorted((run / "stages").iterdir())[: beginning.n_stages]
        half = Path(tempfile.mkdtemp(dir=kept, prefix="half-"))
        for stage in stages:
            shutil.copytree(stage, half / "stages" / stage.name)
        names = [stage.name.partition("-")[2] for stage in stages]
        lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
        (half / "metrics.jsonl").write_text("".join(lines_of(lines, names)))
        try:
            os.rename(half, kept / beginning.name)
        except OSError:  # another run was faster
            shutil.rmtree(half)


def lines_of(lines: Iterable[str], names: list[str]) -> Iterable[str]:
    """The first lines of metrics: those of the stages called `names`, in this order.

    A later stage may have the name of an earlier one; it begins with few steps again.
    """
    before = (0, 0)
    for line in lines:
        content = json.loads(line)
        if content["stage"] not in names:
            return
        at = (names.index(content["stage"]), content["step"])
        if at < before:
            return
        before = at
        yield line
