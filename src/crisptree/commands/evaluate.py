"""`crisptree evaluate`: what a policy is worth on unseen episodes."""

import json
from dataclasses import dataclass
from typing import Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.base.interrupts import interrupts_raise
from crisptree.commands.options import positional


@dataclass(frozen=True)
class Command:
    """Score a policy file on unseen episodes of the real environment, greedily."""

    policy: Annotated[str, positional("POLICY")]
    """The policy file, or the directory of a run."""
    env: str | None = None
    """The environment, if it is not the one that the file names."""
    features: str | None = None
    """`module:function` that computes the policy's features, if it uses one."""
    episodes: int = 100
    """How many episodes."""
    seed: int = 0
    """Which reporting episodes to play: another seed plays other episodes."""
    max_steps: int | None = None
    """Steps after which an episode that does not end is cut."""
    json: bool = False
    """Print one JSON object, and nothing else, on standard output."""

    def run(self) -> None:
        from crisptree.commands.shared import playing, show_count
        from crisptree.crisp import CrispTree
        from crisptree.envs.evaluate import evaluate

        if self.episodes < 1:
            raise CrisptreeError(f"--episodes must be at least 1, not {self.episodes}")
        if self.max_steps is not None and self.max_steps < 1:
            raise CrisptreeError(f"--max-steps must be at least 1, not {self.max_steps}")
        tree = CrispTree.load(self.policy)
        with interrupts_raise(), playing(self.env or tree.env_id):
            score = evaluate(
                tree,
                self.env,
                episodes=self.episodes,
                seed=self.seed,
                features=self.features,
                max_steps=self.max_steps,
                report=lambda done: show_count(done, self.episodes),
            )
        print(json.dumps(score.to_dict()) if self.json else score)
