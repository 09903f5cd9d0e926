"""The parts of `crisptree study` that make and draw policies, and let them play."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from crisptree.base.text import printable
from crisptree.commands.options import option, positional


@dataclass(frozen=True)
class Mlp:
    """Train an MLP without activations, with weights −1, 0 and +1: the paper's third policy."""

    env: Annotated[str, positional("ENV")]
    """A Gymnasium id with Discrete actions."""
    out: Annotated[Path, option("FILE")] = Path("mlp.json")
    """The file to write."""
    seed: int = 0
    """One seed, one network."""

    def run(self) -> None:
        from crisptree.lab.study.train_mlp import CrossEntropyConfig, train_mlp

        mlp = train_mlp(self.env, self.seed, CrossEntropyConfig())
        mlp.save(self.out)
        scores = mlp.training
        print(
            f"wrote {printable(str(self.out))}: "
            f"return {scores['return']:.1f} ± {scores['return_se']:.1f} "
            f"over {scores['episodes']} unseen episodes; "
            f"before binarising {scores['return_before_binarising']:.1f}"
        )


@dataclass(frozen=True)
class Binarise:
    """Make the weights of an MLP file −1, 0 or +1, so that people can compute it by hand."""

    mlp: Annotated[Path, positional("FILE")]
    """An MLP file: layers of weights and biases, without activations."""
    keep: int = 2
    """How many inputs each unit keeps; 1 makes it one-hot."""
    out: Annotated[Path, option("FILE")] = Path("mlp.json")
    """The file to write."""

    def run(self) -> None:
        from crisptree.lab.study import LinearMLP

        LinearMLP.load(self.mlp).binarised(self.keep).save(self.out)
        print(f"wrote {printable(str(self.out))}")


@dataclass(frozen=True)
class Worksheet:
    """Draw a policy as participants see it, to print or to look at."""

    policy: Annotated[Path, positional("FILE")]
    """A policy file, the directory of a run, or an MLP file."""
    out: Annotated[Path, option("FILE")] = Path("worksheet.svg")
    """The SVG file to write."""

    def run(self) -> None:
        from crisptree.commands.shared import write_and_say
        from crisptree.lab.study import load_drawing

        write_and_say(self.out, load_drawing(self.policy).svg())


def visited_states(policy: Any, env: str | None = None, features: str | None = None) -> Any:
    """The states of ten episodes the policy plays, in its own environment or in another one."""
    from crisptree.commands.shared import playing
    from crisptree.envs.rollout import rollout
    from crisptree.envs.seeds import episode_seeds
    from crisptree.envs.task import task_of_policy

    seeds = episode_seeds("selection", 0, 10)
    with playing(env or policy.env_id):
        task = task_of_policy(policy, env, features)
        return rollout([policy], task, seeds, record=True).observations
