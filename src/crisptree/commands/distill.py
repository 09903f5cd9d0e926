"""`crisptree distill`: training with a teacher that somebody has already."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from crisptree.commands.options import option, positional
from crisptree.commands.train import Command as Train


@dataclass(frozen=True)
class Command:
    """Distil an expert into a crisp tree by DAgger, refine it and prune it."""

    expert: Annotated[str, positional("EXPERT")]
    """A policy file, a Stable-Baselines3 zip, or `module:name` of a callable or predictor."""
    env: Annotated[str, positional("ENV")]
    """The environment."""
    leaves: int | None = None
    """Most leaves of the tree (16 unless given)."""
    rules: int | None = None
    """A rule list of at most this many rules instead."""
    seed: int = 0
    """Seed of all randomness."""
    steps: int | None = None
    """Environment steps that the shares of the refinements are taken of."""
    episodes: int = 100
    """Episodes the tree is scored on."""
    out: Path | None = None
    """Where the run goes."""
    resume: bool = False
    """Continue the run in --out."""
    json: bool = False
    """Print the summary as one JSON object, and nothing else, on standard output."""
    track: Annotated[Literal["tensorboard", "wandb"] | None, option("{tensorboard,wandb}")] = None
    """Log every update for TensorBoard (files in --out) or Weights & Biases."""

    def run(self) -> None:
        options = {name: value for name, value in vars(self).items() if name != "expert"}
        Train(**options, teacher=self.expert).run()
