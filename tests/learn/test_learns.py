"""That it learns at all, with the settings it has by default."""

import jax
import numpy as np

from crisptree.envs.cartpole import CartPole
from crisptree.learn.agent import create
from crisptree.learn.compiled import train
from crisptree.learn.config import Learning
from crisptree.learn.rates import rates_of
from crisptree.soft import SoftTree, balanced

LAST = 5


def test_a_soft_tree_of_eight_leaves_balances_the_pole():
    """250,000 steps of CartPole; the mean return of the episodes that ended in the last updates."""
    config, n_updates = Learning(), 30
    for_tree, for_agent = jax.random.split(jax.random.key(0))
    tree = SoftTree.random(balanced(8), 4, 2, key=for_tree)
    agent = create(tree, 4, config, n_updates, key=for_agent)
    agent, metrics = jax.jit(
        lambda agent: train(agent, CartPole(), config, n_updates, rates_of(config))
    )(agent)
    returns, episodes = np.asarray(metrics["return"]), np.asarray(metrics["episodes"])
    assert returns[0] < 50
    assert np.average(returns[-LAST:], weights=episodes[-LAST:]) >= 475
    assert int(agent.update) == n_updates
