"""From scratch: a wide, random, soft tree that turns crisp while it learns."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np

from crisptree import soft
from crisptree.crispen.redraw import redraw_idle_nodes
from crisptree.crispen.refine import anneal
from crisptree.learn import ppo
from crisptree.learn.heads import head_for
from crisptree.learn.stacks import stack
from crisptree.learn.trainer import Between
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage, Values
from crisptree.pipeline.timing import KeepTime


@dataclass(frozen=True)
class Direct(Stage):
    name: str = "direct"
    weight: float = 10.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "ppo": asdict(config.ppo_for("direct")),
            "direct": asdict(config.direct),
            "width": config.width,
            "steps": config.steps,
            "policy": [config.policy.leaf, config.policy.gains],
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        config, task = context.config, context.task
        learning = config.ppo_for("direct")
        n_updates = context.updates(1.0, learning.steps_per_update)
        # Compiled as one program: its many small steps would take longer to compile than to run.
        fresh = eqx.filter_jit(partial(_random_start, context))
        starts = range(config.direct.starts)
        states = stack([fresh(np.array(n_updates), np.array(i)) for i in starts])
        states, snapshots = context.checkpoints.resumed(states)
        with context.trainer(learning, config.direct.starts) as trainer:
            done = anneal(
                states,
                trainer,
                task,
                context.selection().careful(),
                earlier=snapshots,
                on_segment=context.checkpoints.segment,
                between=self._between(context),
                rounds=config.selection.snapshots,
                is_late=context.is_over,
            )
        figures = {
            "leaves": done.tree.n_leaves,
            "training_return": context.checkpoints.training_return(done.start),
            "best_return": context.checkpoints.best_return(),
            "selection_return": done.selection_return,
            "pace": min(1.0, done.updates / n_updates),
            "steps": done.updates * learning.steps_per_update * config.direct.starts,
        }
        values = Values(done.state.critic, done.state.observations)
        return replace(inputs, tree=done.tree, values=values, figures=figures)

    def _between(self, context: Context) -> Between:
        """What happens between segments: idle nodes are drawn again, and the schedule keeps to the
        time."""
        keep_time = KeepTime(context.deadline)

        def between(states: Any, observations: Any) -> Any:
            redrawn = redraw_idle_nodes(
                states,
                observations,
                until=context.config.direct.redraw_until,
                seed=context.seed,
                every=context.config.checkpoint_every,
            )
            return keep_time(redrawn, observations)

        return between


def _random_start(context: Context, n_updates: Any, start: Any) -> Any:
    """A fresh learner around a random tree."""
    config, task = context.config, context.task
    for_tree, for_learner = jax.random.split(jax.random.fold_in(context.key, start))
    tree = soft.AxisTree.random(
        soft.balanced(config.width),
        task.n_features,
        head_for(task.actions),
        key=for_tree,
        gains=config.policy.gains if config.policy.leaf == "linear" else 0,
    )
    return ppo.init(tree, task.n_features, config.ppo_for("direct"), n_updates, key=for_learner)
