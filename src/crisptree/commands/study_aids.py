"""The parts of `crisptree study` that make aids and let policies play."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro


@dataclass(frozen=True)
class Mlp:
    """Train an MLP without activations, with weights −1, 0 and +1: the third aid."""

    env: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ENV")]
    """A Gymnasium id with Discrete actions."""
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("mlp.json")
    """The file to write."""
    seed: int = 0
    """One seed, one network."""

    def run(self) -> None:
        fitted = trained_mlp(self.env, self.seed)
        fitted.save(self.out)
        scores = fitted.training
        print(
            f"{self.out}: return {scores['return']:.1f} ± {scores['return_se']:.1f} "
            f"over {scores['episodes']} unseen episodes; "
            f"before binarising {scores['return_before_binarising']:.1f}"
        )


@dataclass(frozen=True)
class Binarise:
    """Make the weights of an MLP file −1, 0 or +1, so that people can compute it by hand."""

    mlp: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    """An MLP file: layers of weights and biases, without activations."""
    keep: int = 2
    """How many inputs each unit keeps; 1 makes it one-hot."""
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("mlp.json")
    """The file to write."""

    def run(self) -> None:
        from crisptree.lab.study import LinearMLP

        LinearMLP.load(self.mlp).binarised(self.keep).save(self.out)


@dataclass(frozen=True)
class Worksheet:
    """Draw an aid as participants see it, to print or to look at."""

    aid: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    """A policy file or an MLP file."""
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("worksheet.svg")
    """The SVG file to write."""

    def run(self) -> None:
        from crisptree.base.files import write_atomically
        from crisptree.lab.study import load_aid

        write_atomically(self.out, load_aid(self.aid).drawing())


def visited_states(policy, env_id: str) -> np.ndarray:
    """The states of ten episodes the policy plays."""
    from crisptree.envs.policy import policy_from
    from crisptree.envs.rollout import rollout
    from crisptree.envs.seeds import episode_seeds
    from crisptree.envs.task import task_of

    task = task_of(env_id)
    seeds = episode_seeds("selection", 0, 10)
    seen = rollout([policy_from(policy, task)], task, seeds, record=True).observations
    assert seen is not None
    return seen


def trained_mlp(env_id: str, seed: int):
    """The binarised MLP of an environment, with its scores on episodes it never saw.

    A linear policy by the cross-entropy method; then each score keeps its strongest inputs, as few
    as its return allows.
    """
    from crisptree.envs.policy import policy_from
    from crisptree.envs.rollout import rollout
    from crisptree.envs.seeds import block_seed, episode_seeds
    from crisptree.envs.task import task_of
    from crisptree.lab.study.cross_entropy import Search
    from crisptree.lab.study.fit_mlp import fit_mlp

    task = task_of(env_id)

    def returns_of(mlp, seeds, fast: bool = False):
        return rollout([policy_from(mlp, task)], task, seeds, fast=fast).returns[0]

    def training_return(mlp, generation: int) -> float:
        first = block_seed("training", 4, seed, generation)
        return float(returns_of(mlp, range(first, first + 4), fast=True).mean())

    def selection_return(mlp) -> float:
        first = episode_seeds("selection", seed, 1)[0]
        return float(returns_of(mlp, range(first, first + 50), fast=True).mean())

    trained, mlp, keep = fit_mlp(
        task.feature_names,
        task.action_names,
        env_id,
        training_return=training_return,
        selection_return=selection_return,
        search=Search(),
        seed=seed,
    )
    seeds = episode_seeds("reporting", seed, 100)
    returns = returns_of(mlp, seeds)
    scores = {
        "command": f"crisptree study mlp {env_id} --seed {seed}",
        "method": "cross-entropy method on a linear policy, then binarised",
        "inputs_kept_by_each_score": keep,
        "return": float(returns.mean()),
        "return_se": float(returns.std(ddof=1) / len(returns) ** 0.5),
        "return_before_binarising": float(returns_of(trained, seeds).mean()),
        "episodes": len(seeds),
    }
    return replace(mlp, training=scores)
