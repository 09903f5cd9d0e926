"""Once more, where the way went wrong: a cut may lose what no later stage finds again.

Where a whole way takes seconds it is cheaper to go another one than to make every cut surer.
"""

import math

from crisptree.envs.registry import greatest_return
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.recipe import recipe_for
from crisptree.pipeline.report import Reporter
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.starts import best_of, way_seed
from crisptree.pipeline.way import Arrived, Way


def go(
    settings: Settings, seed: int, directory: RunDirectory, tell: Reporter
) -> tuple[list[Arrived], int]:
    """Ways one after the other until one loses nothing; all of them, and which is best.

    Who says how many steps to take gets one way.
    """
    most = recipe_for(settings.env).attempts if settings.steps is None else 1
    every: list[Arrived] = []
    while len(every) < most and (not every or _fell_short(every[-1], settings.env)):
        if every:
            tell.note(f"  fell short with {every[-1].selection_return:.2f}: another attempt")
        own = folder_of(directory, len(every))
        every.append(Way(settings, way_seed(seed, len(every)), own, tell).go())
    return every, best_of(every, settings.env, seed, most)


def folder_of(directory: RunDirectory, attempt: int) -> RunDirectory:
    """The first attempt is the run itself; others have folders of their own within."""
    if attempt == 0:
        return directory
    return RunDirectory(directory.folder(f"attempts/{attempt}"))


def _fell_short(arrived: Arrived, env_id: str) -> bool:
    """Only where it is known how much can be earned."""
    return arrived.selection_return < greatest_return(env_id) < math.inf
