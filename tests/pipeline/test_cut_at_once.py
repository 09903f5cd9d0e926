"""A settled tree is cut to the size asked for in one go."""

from pathlib import Path

import pytest
from small import small_config

from crisptree.crisp import CrispTree
from crisptree.crispen.config import SelectionConfig
from crisptree.envs.task import task_of
from crisptree.pipeline.config import PolicyConfig
from crisptree.pipeline.progress import Silent
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import Before, run_stages
from crisptree.pipeline.stage import Artifacts
from crisptree.pipeline.stages.prune import CutAtOnce

SHIPPED = Path(__file__).parents[2] / "policies" / "cartpole-tree-4.json"


def asked_twice(tree: CrispTree, node: int = 0):
    """The tree as nested tuples, with a question at each leaf that changes nothing."""
    if tree.feature[node] < 0:
        action = int(tree.action[node])
        return (0, 100.0, action, action)
    children = (asked_twice(tree, int(child[node])) for child in (tree.if_true, tree.if_false))
    return (int(tree.feature[node]), float(tree.threshold[node]), *children)


@pytest.mark.parametrize(("best_return", "leaves"), [(500.0, 4), (501.0, 8)])
def test_only_a_tree_that_cannot_be_better_is_cut(tmp_path, best_return, leaves):
    task, shipped = task_of("CartPole-v1"), CrispTree.load(SHIPPED)
    wide = CrispTree.from_nested(asked_twice(shipped), **task.signature)
    before = Before(Artifacts(tree=wide, best_return=best_return))
    few = SelectionConfig(scale=0.1, final=16, states=500, settled=(40,))
    config = small_config(policy=PolicyConfig("tree", 4), selection=few)
    directory = RunDirectory(tmp_path)
    made, _ = run_stages([CutAtOnce()], task, config, 0, directory, Silent(), before=before)
    assert made.tree is not None
    assert made.tree.n_leaves == leaves
