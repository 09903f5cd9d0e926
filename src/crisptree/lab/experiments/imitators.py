"""Trees that imitate the best agent of a domain: by its state–action pairs, and by DAgger.

Their leaves are actions and are taken as such. (The code released with the paper runs its
State-Action DT through a softmax and samples: it takes its own action 73 % of the time with two
actions, 48 % with four.)
"""

from crisptree.crisp import CrispTree
from crisptree.crispen.distill import distill
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task
from crisptree.pipeline.config import DistillConfig

DEMONSTRATIONS = 64
"""Episodes of the agent that a State-Action DT learns from; the released code has 15."""


def state_action_tree(teacher: Policy, task: Task, n_leaves: int, seed: int) -> CrispTree:
    """scikit-learn's CART on what the agent met and did (§6)."""
    first = block_seed("training", DEMONSTRATIONS, seed, 11)
    seen = rollout([teacher], task, range(first, first + DEMONSTRATIONS), record=True, fast=True)
    assert seen.observations is not None and seen.actions is not None
    return fit_cart(seen.observations, seen.actions, None, n_leaves, task, seed)


def dagger_tree(
    teacher: Policy,
    task: Task,
    n_leaves: int,
    seed: int,
    selection: Selection,
    config: DistillConfig,
) -> CrispTree:
    """CART on the states that the trees themselves lead to: the stronger imitator."""
    return distill(
        teacher,
        task,
        n_leaves,
        selection,
        seed=seed,
        rounds=config.rounds,
        episodes=config.episodes,
        finalists=config.finalists,
        weighted=config.weighted,
    ).tree
