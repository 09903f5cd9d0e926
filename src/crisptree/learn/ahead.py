"""The program of a training, compiled while its agents are still being made.

Compiling takes seconds and needs only shapes. On two cores the one long program and the small
ones that draw the first weights are ready at the same time.
"""

from threading import Thread
from typing import Any

import jax
import numpy as np

from crisptree.envs.registry import functional_env
from crisptree.learn.compiled import advancing, openings, update
from crisptree.learn.config import Learning
from crisptree.learn.rates import rates_of, shape_of
from crisptree.learn.session import Segment, seeds_apart


def compiled_ahead(
    segment: Segment, env_id: str, config: Learning, most: int, shapes: Any
) -> Segment:
    """The compiled `segment` of this configuration, for agents of these `shapes`: its program is
    compiled from now on, and waited for when it is first needed."""
    env, shape = functional_env(env_id), shape_of(config)
    advance, agents = advancing(env, shape, most, update), _side_by_side(shapes)
    scenes = openings(env, shape).shapes(agents.key)
    needed = (agents, scenes, jax.ShapeDtypeStruct((), np.int32), rates_of(config))
    advance.lower(*needed)  # here, since Python does one thing at a time; compiling is not Python
    thread = Thread(target=advance.compiled, args=needed)
    thread.start()
    openings(env, shape).compiled(agents.key)

    def when_compiled(agents: Any, n: int) -> tuple[Any, dict[str, np.ndarray]]:
        thread.join()
        return segment(agents, n)

    return when_compiled


def _side_by_side(shapes: Any) -> Any:
    """Those of what `session.side_by_side` makes of such agents."""
    if not seeds_apart():
        return shapes

    def of_one(leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        return jax.ShapeDtypeStruct((1, *leaf.shape[1:]), leaf.dtype)

    return jax.tree.map(of_one, shapes)
