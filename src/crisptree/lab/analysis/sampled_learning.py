"""Where does φ end when it is learned from sampled episodes? The learners of `learn/` on the chain.

`update_curves` iterates exact updates of φ; here the updates are estimated from samples, with the
optimisers and the exploration of a training. Either φ learns alone, between the leaves of §5.2, or
the whole one-node tree learns, from leaves that know nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from rich.console import RenderableType

from crisptree.lab.analysis.analysis_tables import plain_table
from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.chain_tree import main_text_leaves
from crisptree.lab.analysis.state_reward_chain import Handling, StateRewardChain
from crisptree.lab.analysis.update_curves import initial_phis
from crisptree.learn import dqn, ppo
from crisptree.learn.config import (
    ActorCriticConfig,
    AnyConfig,
    DQNConfig,
    PPOConfig,
    ReinforceConfig,
)
from crisptree.learn.stacks import stack
from crisptree.learn.trainer import Trainer
from crisptree.soft import Model, SoftTree, balanced
from crisptree.soft.model import HasOutputs, LeafMap, as_is

STEPS = 160_000
"""Environment steps from each initial φ."""

Trained = Literal["phi", "tree"]
"""What learns: φ alone, between fixed leaves, or every parameter of the tree."""


@dataclass(frozen=True)
class Method:
    """A learner and how it treats the terminal states."""

    name: str
    config: AnyConfig
    handling: Handling = "standard"


@dataclass(frozen=True, eq=False)
class LearnedThresholds:
    """Where the node splits before and after learning, and whether the crisp tree is then
    optimal."""

    first: Float[np.ndarray, " K"]
    last: Float[np.ndarray, " K"]
    """φ/β, as β may have learned too."""
    optimal: Bool[np.ndarray, " K"]


class PhiOnly(Model):
    """A tree whose φ learns while all its other parameters stay."""

    tree: SoftTree
    head: HasOutputs | None = None

    def _fixed(self) -> SoftTree:
        def rest(tree):
            return tree.weights, tree.steepness, tree.leaves

        return eqx.tree_at(rest, self.tree, jax.lax.stop_gradient(rest(self.tree)))

    def mix(self, x: Float[Array, "1 *rows"], of_leaf: LeafMap = as_is) -> Float[Array, "2 *rows"]:
        return self._fixed().mix(x, of_leaf)

    @property
    def n_outputs(self) -> int:
        return self.tree.n_outputs


def methods(gamma: float) -> tuple[Method, ...]:
    """Policy gradient twice, Eq. 5 with plain and with Adam's steps, and a DQN."""
    plain: dict[str, Any] = {"normalize_observations": False, "normalize_rewards": False}
    plain |= {"gamma": gamma, "plateau_speedup": 1.0, "n_envs": 16, "learning_rate": 1e-2}
    online = DQNConfig(
        algorithm="online_q",
        n_steps=50,
        learning_starts=0,
        epsilon_start=0.1,
        epsilon_end=0.1,
        **plain,
    )
    to_the_letter = replace(
        online,
        optimizer="sgd",
        learning_rate=4e-3,
        final_learning_rate=1.0,
        max_grad_norm=float("inf"),
    )
    replayed = replace(
        online,
        algorithm="dqn",
        buffer_size=8000,
        batch_size=64,
        gradient_steps=50,
        target_update_interval=25,
    )
    handlings: tuple[Handling, ...] = ("standard", "paper", "bootstrap-and-update")
    return (
        Method("REINFORCE", ReinforceConfig(n_steps=16, **plain)),
        Method("PPO", PPOConfig(n_steps=16, n_minibatches=4, **plain)),
        *(Method("Eq. 5, plain steps", to_the_letter, handling) for handling in handlings),
        *(Method("Eq. 5, Adam", online, handling) for handling in handlings),
        *(Method("DQN", replayed, handling) for handling in handlings),
    )


def learned_thresholds(
    setting: Setting, method: Method, first: Float[np.ndarray, " K"], steps: int, trained: Trained
) -> LearnedThresholds:
    """φ after `steps` environment steps, from each initial φ in `first`."""
    config = method.config
    n_updates = max(1, steps // config.steps_per_update)
    states = stack(
        [_learner(setting, config, phi, i, n_updates, trained) for i, phi in enumerate(first)]
    )
    chain = StateRewardChain(setting, method.handling)
    with Trainer(None, config, len(first), env=chain) as trainer:
        for progress in trainer.learn(states):
            states = progress.states
    tree = states.actor.tree if trained == "phi" else states.actor
    last = np.asarray(tree.comparators[:, 0] / tree.weights[:, 0, 0], np.float64)
    return LearnedThresholds(first, last, np.asarray(is_optimal(setting, tree)))


def _learner(
    setting: Setting,
    config: AnyConfig,
    phi: float,
    seed: int,
    n_updates: int,
    trained: Trained,
) -> Any:
    if trained == "phi":
        actor = PhiOnly(tree=one_node(setting, float(phi), _known_leaves(setting, config)))
    else:
        actor = one_node(setting, float(phi), (0.0, 0.0))
    key = jax.random.key(seed)
    if isinstance(config, DQNConfig):
        return dqn.init(actor, 1, config, n_updates, key=key)
    assert isinstance(config, ActorCriticConfig)
    return ppo.init(actor, 1, config, n_updates, key=key)


def _known_leaves(setting: Setting, config: AnyConfig) -> Sequence[float]:
    """§5.2: what a leaf holds for the action it favours, and for the other one."""
    if isinstance(config, DQNConfig):
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


@dataclass(frozen=True, eq=False)
class MethodResult:
    """Where one learner ends from every initial threshold."""

    method: Method
    phi: LearnedThresholds
    """φ alone learns, between the leaves of §5.2."""
    tree: LearnedThresholds
    """The whole tree learns, from leaves that know nothing."""


def compare_learners(setting: Setting) -> Iterator[MethodResult]:
    """Every learner under every handling of the terminal states it can be given."""
    first = initial_phis(setting)
    for method in methods(setting.gamma):
        yield MethodResult(
            method,
            learned_thresholds(setting, method, first, STEPS, "phi"),
            learned_thresholds(setting, method, first, STEPS, "tree"),
        )


def comparison_table(setting: Setting, found: list[MethodResult]) -> RenderableType:
    rows = [
        (
            result.method.name,
            result.method.handling,
            f"{result.phi.optimal.mean():.0%}",
            f"{result.tree.optimal.mean():.0%}",
        )
        for result in found
    ]
    count = len(initial_phis(setting))
    return plain_table(
        f"Learned from experience: share of {count} initial φ that end optimal",
        ("learner", "terminal states", "φ alone", "all of the tree"),
        rows,
        f"{STEPS} steps from each φ; episodes start in i* and in i*+1. φ alone: the leaves are "
        "those of §5.2 and stay. All of the tree: the leaves start even.",
    )


def comparison_json(found: list[MethodResult]) -> list[dict[str, Any]]:
    return [
        {
            "learner": result.method.name,
            "terminal": result.method.handling,
            "steps": STEPS,
            "phi_alone": _thresholds_json(result.phi),
            "all_of_the_tree": _thresholds_json(result.tree),
        }
        for result in found
    ]


def _thresholds_json(found: LearnedThresholds) -> dict[str, Any]:
    return {
        "optimal_after": float(found.optimal.mean()),
        "first": found.first.tolist(),
        "last": found.last.tolist(),
        "optimal": found.optimal.tolist(),
    }
