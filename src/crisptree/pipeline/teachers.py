"""Teachers that people already have: policies, models of Stable-Baselines3, functions."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.crispen.prune import visited_states
from crisptree.envs.policy import Policy, policy_from
from crisptree.envs.source import import_by_name
from crisptree.envs.task import Task
from crisptree.learn.moments import Moments
from crisptree.pipeline.stage import Context, Values


def values_seen_by(policy: Policy, context: Context) -> Values:
    """Moments of what somebody else's policy meets, and a fresh critic."""
    n_features = context.task.n_features
    states = visited_states(
        policy,
        context.task,
        context.seed,
        episodes=context.selection().scaled(64),
        until=context.selection().until(),
    )
    moments = Moments.empty((n_features,)).with_batch(
        jnp.asarray(states), jnp.ones(len(states), bool)
    )
    nothing = Values.empty(n_features, context.config.ppo.critic_width)
    return eqx.tree_at(lambda values: values.observations, nothing, moments)


def external_teacher(name: str, task: Task) -> Policy:
    """A policy file or the directory of a run, a Stable-Baselines3 zip, or `module:name` of a
    callable or a predictor."""
    path = Path(name)
    if path.suffix == ".zip":
        return policy_from(_stable_baselines(path), task)
    if path.suffix == ".json" or path.is_dir():
        return _fitting(CrispTree.load(path), path, task)
    module, _, attribute = name.partition(":")
    if not attribute:
        raise CrisptreeError(
            f"no teacher '{name}': give soft, mlp, levels, dqn, sac, rule, exact, a policy .json, "
            "the directory of a run, a Stable-Baselines3 .zip or module:name"
        )
    found = getattr(import_by_name(module, f"teacher '{printable(name)}'"), attribute, None)
    if found is None:
        raise CrisptreeError(f"the module '{printable(module)}' has no '{printable(attribute)}'")
    return policy_from(found, task)


def _fitting(tree: CrispTree, path: Path, task: Task) -> CrispTree:
    """The tree, if its features and actions are as many as the task's."""
    theirs, ours = tree.actions, task.actions
    if tree.n_features != task.n_features:
        raise CrisptreeError(
            f"{path} looks at {tree.n_features} features; '{task.name}' has {task.n_features}"
        )
    if (theirs.kind, theirs.n_outputs) != (ours.kind, ours.n_outputs):
        raise CrisptreeError(
            f"{path} has {theirs.n_outputs} {theirs.kind} actions; '{task.name}' has "
            f"{ours.n_outputs} {ours.kind} ones"
        )
    return tree


def _stable_baselines(path: Path) -> Any:
    try:
        import stable_baselines3 as sb3  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise CrisptreeError(
            "a Stable-Baselines3 teacher needs the package: pip install 'crisptree[sb3]'"
        ) from error
    if not path.exists():
        raise CrisptreeError(f"no file {path}")
    for algorithm in (sb3.PPO, sb3.DQN, sb3.A2C, sb3.SAC, sb3.TD3):
        try:
            return algorithm.load(path, device="cpu")
        except Exception:
            continue
    raise CrisptreeError(f"{path} is not a PPO, DQN, A2C, SAC or TD3 model of Stable-Baselines3")
