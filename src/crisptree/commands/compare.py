"""`crisptree compare`: where two policies differ, and how much it matters."""

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import OptionalStr

if TYPE_CHECKING:
    from crisptree.crisp import CrispTree
    from crisptree.explain import Difference, Visited


@dataclass(frozen=True)
class Command:
    """Where two policies take other actions, and in what share of the states they meet.

    Exit code: 0 if they are the same function, 1 if they differ anywhere.
    """

    first: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="POLICY")]
    """A policy file."""
    second: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="OTHER")]
    """Another one."""
    env: OptionalStr = None
    """The environment to play, where it is not the one in the first file."""
    episodes: int = 20
    """How many episodes each plays; with 0 only the trees are compared."""
    seed: int = 0
    """Which reporting episodes: other seeds, other episodes."""
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
            told = found.to_dict(first)
            if met is not None:
                told["first_return"], told["second_return"] = (
                    float(each.returns.mean()) for each in met
                )
            print(json.dumps(told))
        else:
            print(self._told(first, found, met))
        if found.regions:
            sys.exit(1)

    def _played(self, first: "CrispTree", second: "CrispTree") -> "tuple[Visited, Visited]":
        from crisptree.commands.shared import environment_of
        from crisptree.explain import reporting_seeds, visited

        env_id = environment_of(first, self.env)
        one, other = (
            visited(tree, env_id, reporting_seeds(tree, env_id, self.episodes, self.seed))
            for tree in (first, second)
        )
        return one, other

    def _told(
        self, tree: "CrispTree", found: "Difference", met: "tuple[Visited, Visited] | None"
    ) -> str:
        from crisptree.commands.shared import aligned, in_words

        if not found.regions:
            return "the same action for every observation"
        lines = []
        if met is not None:
            for name, each, share in zip(
                (self.first, self.second), met, (found.first_share, found.second_share), strict=True
            ):
                lines.append(
                    f"{name}: return {each.returns.mean():.1f}; in {share:.1%} of its "
                    f"{len(each.states):,} states the other acts otherwise"
                )
        many = len(found.regions)
        lines.append(f"they differ in {many} region{'s' if many > 1 else ''}:")
        rows = [("states", "first", "second", "where")]
        for each in found.regions[: self.most]:
            actions = (tree.action_names[each.first_action], tree.action_names[each.second_action])
            count = "" if met is None else f"{each.states:,}"
            rows.append((count, *actions, in_words(each.conditions, tree)))
        lines.append(aligned(rows))
        if many > self.most:
            lines.append(f"… and {many - self.most} more")
        return "\n".join(lines)
