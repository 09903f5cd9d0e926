"""`crisptree compare`: where two policies differ, and how much it matters."""

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import positional

if TYPE_CHECKING:
    from crisptree.crisp import CrispTree
    from crisptree.explain import Difference, Visited


@dataclass(frozen=True)
class Command:
    """Show where two policies act differently, and in what share of the states they visit.

    Exit code: 0 if they are the same function, 1 if they differ anywhere.
    """

    first: Annotated[str, positional("POLICY")]
    """A policy file, or the directory of a run."""
    second: Annotated[str, positional("OTHER")]
    """Another one."""
    env: str | None = None
    """The environment to play, if it is not the one that the first file names."""
    features: str | None = None
    """`module:function` that computes the policies' features, if they use one."""
    episodes: int = 20
    """How many episodes each plays; with 0 only the trees are compared."""
    seed: int = 0
    """Which reporting episodes to play: another seed plays other episodes."""
    most: int = 20
    """How many regions to list."""
    json: bool = False
    """Print one JSON object, and nothing else, on standard output."""

    def run(self) -> None:
        from crisptree.commands.shared import loaded
        from crisptree.explain import compare

        if not 0 <= self.episodes <= 10_000:
            raise CrisptreeError(f"--episodes is {self.episodes}; it must lie in 0 … 10000")
        first, second = loaded(self.first), loaded(self.second)
        met = self._played(first, second) if self.episodes else None
        found = compare(first, second, met)
        if self.json:
            content = found.to_dict(first, second)
            if met is not None:
                content["first_return"], content["second_return"] = (
                    float(each.returns.mean()) for each in met
                )
            print(json.dumps(content))
        else:
            print("\n".join(self._lines(first, second, found, met)))
        if found.regions:
            sys.exit(1)

    def _played(self, first: "CrispTree", second: "CrispTree") -> "tuple[Visited, Visited]":
        from crisptree.commands.shared import playing
        from crisptree.envs.task import check_fits, task_of_policy
        from crisptree.explain import reporting_seeds, visited

        seeds = reporting_seeds(self.episodes, self.seed)
        with playing(self.env or first.env_id):
            task = task_of_policy(first, self.env, self.features)
            check_fits(second, task)
            return visited(first, task, seeds), visited(second, task, seeds)

    def _lines(
        self,
        first: "CrispTree",
        second: "CrispTree",
        found: "Difference",
        met: "tuple[Visited, Visited] | None",
    ) -> list[str]:
        from crisptree.base.text import aligned, counted, printable
        from crisptree.show.wording import ExactWording, Wording

        if not found.regions:
            return ["the same action for every observation"]
        lines = []
        if met is not None:
            shares = (found.first_share, found.second_share)
            apart = (found.first_apart, found.second_apart)
            for name, each, share, gaps in zip(
                (self.first, self.second), met, shares, apart, strict=True
            ):
                lines.append(
                    f"{printable(name)}: return {each.returns.mean():.1f}; in {share:.1%} of its "
                    f"{counted(len(each.states), 'state')} the other acts differently"
                    + _distance(first, gaps)
                )
        lines.append(f"they differ in {counted(len(found.regions), 'region')}:")
        # Regions are those of the simplified trees, and so are the leaves of their rules.
        ours, theirs = Wording(first.simplify()), Wording(second.simplify())
        exact = ExactWording(first)
        rows = [("states", "first", "second", "where")]
        for each in found.regions[: self.most]:
            actions = ours.actions.of(each.first.leaf), theirs.actions.of(each.second.leaf)
            count = "" if met is None else f"{each.states:,}"
            rows.append((count, *actions, exact.conditions(each.conditions) or "everywhere"))
        lines.append(aligned(rows))
        if len(found.regions) > self.most:
            lines.append(f"… and {len(found.regions) - self.most} more")
        return lines


def _distance(tree: "CrispTree", gaps: tuple[float, ...]) -> str:
    """`, torque by 0.31 on average`; nothing for actions that have no distance."""
    parts = [f"{name} by {gap:.3g}" for name, gap in zip(tree.action_names, gaps, strict=False)]
    return f", {', '.join(parts)} on average" if parts else ""
