"""Learned soft agents as bytes in the store, and back as somebody to watch."""

import tempfile
from pathlib import Path

import equinox as eqx
import jax

from crisptree import soft
from crisptree.crispen.distill import Teacher
from crisptree.envs.spaces import describe
from crisptree.lab.experiments.cell import Cell
from crisptree.learn import checkpoint
from crisptree.learn.agent import create
from crisptree.pipeline.recipe import recipe_for
from crisptree.pipeline.teachers import greedy


def revived(cell: Cell, content: bytes) -> Teacher:
    """The greedy actions of an agent that `train_soft` has saved as (actor, critic, moments)."""
    task, key = describe(cell.env), jax.random.key(0)
    sizes = (task.n_features, task.n_actions)
    assert cell.size is not None
    if cell.model == "mlp":
        actor = soft.baseline(cell.size, *sizes, key=key)
    else:
        shape = soft.balanced if cell.model == "soft-tree" else soft.rule_list
        actor = soft.SoftTree.random(shape(cell.size), *sizes, key=key)
    agent = create(actor, task.n_features, recipe_for(cell.env).soft, 1, key=key)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.npz"
        path.write_bytes(content)
        parts = checkpoint.load(path, (agent.actor, agent.critic, agent.observations))
    return greedy(eqx.tree_at(lambda a: (a.actor, a.critic, a.observations), agent, parts))
