"""Where does φ end when it is learned from experience? The learners of `learn/` on the chain.

`learning` follows exact updates of φ; here the updates are estimated from sampled episodes, with
the optimisers and the exploration that a training has. Either φ learns alone, between the leaves
of §5.2, or all of the one-node tree learns, from leaves that know nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from crisptree.lab.analysis.paid_chain import Handling, PaidChain
from crisptree.lab.analysis.setting import Setting
from crisptree.lab.analysis.tree import main_text_leaves
from crisptree.learn import q_agent
from crisptree.learn.agent import create
from crisptree.learn.config import Learning
from crisptree.learn.q_config import QLearning
from crisptree.learn.session import compiled_segment, learn
from crisptree.learn.stacks import stack
from crisptree.soft import SoftTree, balanced

SEGMENT = 16


@dataclass(frozen=True)
class Method:
    """A learner and how it treats the terminal states."""

    name: str
    config: Learning | QLearning
    handling: Handling = "standard"


@dataclass(frozen=True, eq=False)
class Ended:
    """Where the node splits before and after, and whether the crisp tree is optimal at the end."""

    first: Float[np.ndarray, " K"]
    last: Float[np.ndarray, " K"]
    """φ/β, as β may have learned too."""
    optimal: Bool[np.ndarray, " K"]


class ComparatorAlone(eqx.Module):
    """A tree of which only φ learns."""

    tree: SoftTree

    def _held(self) -> SoftTree:
        def rest(tree):
            return tree.weights, tree.steepness, tree.leaves

        return eqx.tree_at(rest, self.tree, jax.lax.stop_gradient(rest(self.tree)))

    def log_policy(self, x: Float[Array, "1 *rows"]) -> Float[Array, "2 *rows"]:
        return self._held().log_policy(x)

    def q_values(self, x: Float[Array, "1 *rows"]) -> Float[Array, "2 *rows"]:
        return self._held().q_values(x)


def methods(gamma: float) -> tuple[Method, ...]:
    """Policy gradient twice, Eq. 5 with plain and with Adam's steps, and a DQN."""
    plain = {"normalise_observations": False, "normalise_rewards": False, "gamma": gamma}
    policy = Learning(n_envs=16, n_steps=16, minibatches=4, learning_rate=1e-2, **plain)
    online = QLearning(
        algorithm="online-q", n_envs=16, rounds=50, warm_up=0, epsilon=0.1, epsilon_end=0.1, **plain
    )
    to_the_letter = replace(
        online, optimiser="sgd", learning_rate=4e-3, final_rate=1.0, max_gradient_norm=float("inf")
    )
    online = replace(online, learning_rate=1e-2)
    dqn = replace(online, algorithm="q", memory=8000, batch=64, sync_every=25)
    handlings: tuple[Handling, ...] = ("standard", "paper", "bootstrap-and-update")
    return (
        Method("REINFORCE", replace(policy, algorithm="reinforce")),
        Method("PPO", policy),
        *(Method("Eq. 5, plain steps", to_the_letter, handling) for handling in handlings),
        *(Method("Eq. 5, Adam", online, handling) for handling in handlings),
        *(Method("DQN", dqn, handling) for handling in handlings),
    )


def ends(
    setting: Setting, method: Method, first: Float[np.ndarray, " K"], steps: int, *, alone: bool
) -> Ended:
    """φ from every place in `first` after `steps` environment steps; `alone` holds the rest."""
    config = method.config
    n_updates = max(1, steps // config.steps_per_update)
    agents = stack(
        [_fresh(setting, config, phi, i, n_updates, alone) for i, phi in enumerate(first)]
    )
    segment = compiled_segment(PaidChain(setting, method.handling), config, SEGMENT)
    for progress in learn(agents, segment, SEGMENT):
        agents = progress.agents
    tree = agents.actor.tree if alone else agents.actor
    last = np.asarray(tree.comparators[:, 0] / tree.weights[:, 0, 0], np.float64)
    return Ended(first, last, np.asarray(is_optimal(setting, tree)))


def _fresh(
    setting: Setting, config: Learning | QLearning, phi: float, i: int, n_updates: int, alone: bool
) -> Any:
    tree = one_node(setting, float(phi), _known_leaves(setting, config) if alone else (0.0, 0.0))
    actor, key = ComparatorAlone(tree) if alone else tree, jax.random.key(i)
    if isinstance(config, QLearning):
        return q_agent.create(actor, 1, config, n_updates, key=key)
    return create(actor, 1, config, n_updates, key=key)


def _known_leaves(setting: Setting, config: Learning | QLearning) -> Sequence[float]:
    """§5.2: what a leaf holds for the action it favours, and for the other one."""
    if isinstance(config, QLearning):
        return main_text_leaves(setting)
    return np.log([setting.leaf_probability, 1 - setting.leaf_probability]).tolist()


def one_node(setting: Setting, phi: float, leaves: Sequence[float]) -> SoftTree:
    """Eq. 7: the TRUE leaf (s > φ) favours a2, left."""
    good, bad = leaves
    return SoftTree(
        weights=jnp.ones((1, 1)),
        comparators=jnp.array([phi], jnp.float32),
        steepness=jnp.array([setting.alpha], jnp.float32),
        leaves=jnp.array([[bad, good], [good, bad]], jnp.float32),
        topology=balanced(2),
    )


def is_optimal(setting: Setting, trees: SoftTree) -> Bool[Array, " K"]:
    """Whether each of K stacked trees, made crisp, goes right up to i* and left beyond."""
    states = jnp.arange(2.0, setting.n)
    best = (states > setting.istar).astype(jnp.int32)

    def one(tree: SoftTree) -> Bool[Array, ""]:
        goes_true = jax.vmap(tree.margins)(states[:, None])[:, 0] > 0
        actions = jnp.where(goes_true, tree.leaves[0].argmax(), tree.leaves[1].argmax())
        return (actions == best).all()

    return eqx.filter_vmap(one)(trees)
