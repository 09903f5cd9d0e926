"""Trees that imitate the best agent of a domain: by its state–action pairs, and by DAgger.

Their leaves are actions and are taken as such. (The code released with the paper runs its
State-Action DT through a softmax and samples: it takes its own action 73 % of the time with two
actions, 48 % with four.)
"""

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.distill import Teacher, distill, fit_cart
from crisptree.crispen.select import Selection
from crisptree.envs.host import host_envs
from crisptree.envs.seeds import block_seed
from crisptree.envs.spaces import Task
from crisptree.pipeline.recipe import recipe_for

DEMONSTRATIONS = 64
"""Episodes of the agent that a State-Action DT learns from; the released code has 15."""


def state_action_tree(teacher: Teacher, task: Task, n_leaves: int, seed: int) -> CrispTree:
    """scikit-learn's CART on what the agent met and did (§6)."""
    envs = host_envs(task.env_id, DEMONSTRATIONS)
    at = envs.reset(block_seed("training", DEMONSTRATIONS, seed, 11))
    running = np.ones(len(at), bool)
    states, actions = [], []
    while running.any():
        chosen = np.asarray(teacher(at))
        states.append(at[running])
        actions.append(chosen[running])
        step = envs.step(chosen)
        running &= ~(step.terminated | step.truncated)
        at = step.observation
    envs.close()
    return fit_cart(np.concatenate(states), np.concatenate(actions), n_leaves, task, seed)


def dagger_tree(
    teacher: Teacher, task: Task, n_leaves: int, seed: int, selection: Selection
) -> CrispTree:
    """CART again, on the states that the trees themselves lead to: the stronger batch baseline."""
    rounds = recipe_for(task.env_id).rounds
    return distill(teacher, task, n_leaves, selection, seed=seed, rounds=rounds).tree
