"""`crisptree explain`: what matters in a policy, or in one of its decisions."""

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import option, positional

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crisptree.crisp import CrispTree
    from crisptree.explain import Change


@dataclass(frozen=True)
class Command:
    """Which features and splits matter; with --at, why an action is taken and what would change it.

    Importance is counted in comparisons, and in the return that is lost when a split is removed.
    """

    policy: Annotated[str, positional("POLICY")]
    """The policy file, or the directory of a run."""
    at: Annotated[tuple[float, ...], option("X…")] = ()
    """An observation, number by number: explain this decision."""
    env: str | None = None
    """The environment, if it is not the one that the file names."""
    features: str | None = None
    """`module:function` that computes the policy's features, if it uses one."""
    episodes: int = 20
    """How many episodes to play each time."""
    seed: int = 0
    """Which reporting episodes to play: another seed plays other episodes."""
    most: int = 10
    """How many changes to list."""
    json: bool = False
    """Print one JSON object, and nothing else, on standard output."""

    def run(self) -> None:
        from crisptree.commands.shared import loaded

        if not 1 <= self.episodes <= 10_000:
            raise CrisptreeError(f"--episodes is {self.episodes}; it must lie in 1 … 10000")
        tree = loaded(self.policy)
        if self.at:
            self._decision(tree)
        else:
            self._importance(tree)

    def _importance(self, tree: "CrispTree") -> None:
        from crisptree.commands.shared import playing, show_count
        from crisptree.envs.task import task_of_policy
        from crisptree.explain import importance, reporting_seeds

        seeds = reporting_seeds(self.episodes, self.seed)
        with playing(self.env or tree.env_id):
            task = task_of_policy(tree, self.env, self.features)
            found = importance(tree, task, seeds, report=show_count)
        if self.json:
            print(json.dumps(found.to_dict(tree)))
            return
        from crisptree.base.text import aligned, counted
        from crisptree.show.wording import Wording

        wording = Wording(tree)
        played = f"{counted(found.episodes, 'episode')}, {counted(found.states, 'state')}"
        print(f"return {found.mean_return:.1f} over {played}")
        rows = [("feature", "comparisons", "return lost without it")]
        for each in found.features:
            row = (wording.features[each.feature], f"{each.comparisons:.1%}", str(each.lost))
            rows.append(row)
        print(f"\n{aligned(rows)}")
        if not found.splits:
            return
        rows = [("split", "states", "true for", "return lost without it")]
        for each in found.splits:
            rows.append(
                (
                    wording.answer(each.node, True),
                    f"{each.visits:,}",
                    "–" if each.goes_true is None else f"{each.goes_true:.1%}",
                    str(each.lost),
                )
            )
        print(f"\n{aligned(rows)}")

    def _decision(self, tree: "CrispTree") -> None:
        import numpy as np

        from crisptree.explain import counterfactuals
        from crisptree.explain.action_json import action_json

        at = np.array(self.at)
        if at.shape != (tree.n_features,) or not np.isfinite(at).all():
            raise CrisptreeError(
                f"--at takes {tree.n_features} finite numbers, one a feature, not {self.at}"
            )
        scale = self._scale(tree)
        changes = counterfactuals(tree, at, scale)
        path = tree.decision_path(at)
        if self.json:
            found = {
                "action": action_json(tree, tree.leaf_at(path[-1])),
                "values": tree.act(at[None])[0].tolist(),
                "path": list(path),
                "changes": [_change_dict(each, tree) for each in changes],
                "scale": None if scale is None else scale.tolist(),
            }
            print(json.dumps(found))
        else:
            self._print_decision(tree, path, changes, scale)

    def _print_decision(
        self,
        tree: "CrispTree",
        path: tuple[int, ...],
        changes: "tuple[Change, ...]",
        scale: "NDArray | None",
    ) -> None:
        from crisptree.show.wording import Wording

        wording = Wording(tree)
        print(f"{wording.actions.at(path[-1], self.at)}{', because' if path[:-1] else ''}")
        if tree.gains[path[-1]]:
            print(f"  {wording.actions.of(path[-1])}")
        for node in path[:-1]:
            feature, threshold, _, _ = tree.nodes[node]
            value = self.at[feature]
            said = wording.answer(node, value > threshold)
            if tree.features[feature].kind == "number":
                said += f": it is {value:.6g}, {abs(value - threshold):.3g} away"
            print(f"  {said}")
        unit = (
            "numbers as they are" if scale is None else "in standard deviations of visited states"
        )
        print(f"\nThe smallest changes that would change it ({unit}):")
        for each in changes[: self.most]:
            new = ", ".join(
                f"{wording.features[at]} {wording.value(at, self.at[at])} → "
                f"{wording.value(at, each.observation[at])}"
                for at in each.features
            )
            print(f"  {wording.actions.of(each.leaf)}: {new} (distance {each.distance:.3g})")
        if len(changes) > self.most:
            print(f"  … and {len(changes) - self.most} more")
        if not changes:
            print("  none: every observation leads to this action")

    def _scale(self, tree: "CrispTree") -> "NDArray | None":
        """The standard deviation of each feature over visited states; None without an
        environment."""
        import numpy as np

        from crisptree.commands.shared import playing
        from crisptree.envs.task import task_of_policy
        from crisptree.explain import reporting_seeds, visited

        seeds = reporting_seeds(self.episodes, self.seed)
        with playing(self.env or tree.env_id):
            try:
                task = task_of_policy(tree, self.env, self.features)
            except CrisptreeError:
                if self.env is not None:
                    raise
                return None
            spread = visited(tree, task, seeds).states.std(axis=0, dtype=np.float64)
        return np.where(spread > 0, spread, 1.0)


def _change_dict(change: "Change", tree: "CrispTree") -> dict:
    from crisptree.explain.action_json import action_json

    found = asdict(change)
    found["action"] = action_json(tree, tree.leaf_at(change.leaf))
    found["features"] = [tree.feature_names[at] for at in change.features]
    return found
