"""`crisptree evaluate`: what a policy is worth on unseen episodes."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.options import OptionalStr


@dataclass(frozen=True)
class Command:
    """Score a policy file on unseen episodes of the real environment, greedily."""

    policy: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="POLICY")]
    """The policy file."""
    env: OptionalStr = None
    """The environment, where it is not the one in the file."""
    episodes: int = 100
    """How many episodes."""
    seed: int = 0
    """Which reporting episodes: other seeds, other episodes."""
    json: bool = False
    """Print one JSON object, and nothing else, on standard output."""

    def run(self) -> None:
        from crisptree.commands.shared import policy_path
        from crisptree.crisp import CrispTree
        from crisptree.score_policy import evaluate

        if self.episodes < 1:
            raise CrisptreeError(f"--episodes must be at least 1, not {self.episodes}")
        tree = CrispTree.load(policy_path(str(self.policy)))
        score = evaluate(
            tree,
            self.env,
            episodes=self.episodes,
            seed=self.seed,
            report=self._count if sys.stderr.isatty() else None,
        )
        if self.json:
            print(json.dumps(score.to_dict()))
        else:
            print(score)

    def _count(self, done: int) -> None:
        """Say how far it is, in one line of the terminal that is gone at the end."""
        line = f"playing episode {done} of {self.episodes}" if done < self.episodes else ""
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
