"""The program of a training, compiled while its agents are still being made.

Compiling takes seconds and needs only shapes. On two cores the one long program and the small
ones that draw the first weights are ready at the same time.
"""

from threading import Thread
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from crisptree.envs.registry import functional_env
from crisptree.learn.compiled import advancing, opening, update
from crisptree.learn.config import Learning
from crisptree.learn.rates import rates_of, shape_of
from crisptree.learn.session import Segment, side_by_side


def compiled_ahead(
    segment: Segment, env_id: str, config: Learning, most: int, shapes: Any
) -> Segment:
    """The compiled `segment` of this configuration, for agents of these `shapes`: its program is
    compiled from now on, and waited for when it is first needed."""
    env, shape = functional_env(env_id), shape_of(config)
    advance, agents = advancing(env, shape, most, update), side_by_side(_blank(shapes))[0]
    scenes = eqx.filter_eval_shape(jax.vmap(lambda key: opening(env, shape, key)), agents.key)
    nothing = (agents, _blank(scenes), jnp.asarray(0), rates_of(config))
    advance.lower(*nothing)  # here, since Python does one thing at a time; compiling is not Python
    thread = Thread(target=advance, args=nothing)
    thread.start()

    def when_compiled(agents: Any, n: int) -> tuple[Any, dict[str, np.ndarray]]:
        thread.join()
        return segment(agents, n)

    return when_compiled


def _blank(shapes: Any) -> Any:
    """Zeros of these shapes."""

    def zeros(leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.split(jax.random.key(0), leaf.shape)
        return jax.device_put(np.zeros(leaf.shape, leaf.dtype))

    return jax.tree.map(zeros, shapes)
