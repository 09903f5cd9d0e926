"""`crisptree analyze`: where policy gradient and Q-learning lead a one-node tree on a chain."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import option, positional


@dataclass
class Command:
    """Critical points of the updates of φ on the chain MDP, for any chain of your own.

    Without options: the paper's setting (§5, Appendices A to D).
    """

    policy: Annotated[tuple[str, ...], positional("")] = ()
    """Takes no policy: `crisptree explain POLICY` says which features and splits matter in one."""
    n: int = 4
    """States of the chain; the first and the last are terminal."""
    istar: int | None = None
    """i*: it and its right neighbour pay r-plus. Unless given, n // 2."""
    p: float = 1.0
    """Chance that a move goes the way of its action."""
    gamma: float = 0.95
    """Discount factor."""
    alpha: float = 10.0
    """Steepness of the tree's decision node."""
    r_plus: float = 1.0
    """Reward of i* and i*+1."""
    r_minus: float = -1.0
    """Reward of the terminal states."""
    horizon: int | None = None
    """Time steps of an episode. Unless given, n."""
    leaf_probability: float = 0.99
    """Probability a policy leaf gives to the action it favours."""
    start: tuple[int, ...] = ()
    """States in which episodes start, each analysed by itself. Unless given, i* and i*+1."""
    rate: float = 0.004
    """Learning rate for each time step, when φ is followed from many places."""
    steps: int = 10_000
    """Updates for which φ is followed."""
    learn: bool = False
    """Also let policy gradient and Q-learning learn from sampled episodes, φ alone and the whole
    tree, from the same places. Takes minutes."""
    out: Annotated[Path | None, option("DIR")] = None
    """Directory for the figures (SVG and PNG), analysis.json and curves.csv. One that holds an
    earlier analysis is renewed; files of anything else are never overwritten."""
    json: bool = False
    """Print the numbers as one JSON object instead of tables."""

    def run(self) -> None:
        if self.policy:
            raise CrisptreeError(
                "analyze studies a chain of states and takes no policy; "
                f"for a policy: crisptree explain {self.policy[0]}"
            )
        from crisptree.lab.analysis import LearningPlan, Setting, analyse, as_json
        from crisptree.lab.analysis.analysis_files import prepare_directory, write_directory

        setting = Setting(
            n=self.n,
            istar=self.n // 2 if self.istar is None else self.istar,
            p=self.p,
            gamma=self.gamma,
            alpha=self.alpha,
            r_plus=self.r_plus,
            r_minus=self.r_minus,
            horizon=self.n if self.horizon is None else self.horizon,
            leaf_probability=self.leaf_probability,
        )
        plan = LearningPlan(self.rate, self.steps)
        if self.learn and self.start:
            raise CrisptreeError("--learn starts episodes in i* and i*+1: leave out --start")
        if self.out is not None:
            prepare_directory(self.out)
        analysis = analyse(setting, self.start, plan)
        report = as_json(analysis)
        experience = None
        if self.learn:
            report["experience"], experience = _learned(setting)
        files = [] if self.out is None else write_directory(analysis, report, self.out)
        if self.json:
            print(json.dumps({**report, "files": [str(file) for file in files]}))
            return

        from rich.console import Console

        from crisptree.lab.analysis.analysis_tables import print_tables

        console = Console()
        print_tables(analysis, console)
        if experience is not None:
            console.print(experience)
        if files:
            console.print("Written: " + ", ".join(str(file) for file in files))
        else:
            console.print("For the figures: --out DIR", style="dim")


def _learned(setting: Any) -> tuple[list[dict[str, Any]], Any]:
    """The comparison of learners as JSON and as a table; progress goes to stderr."""
    from rich.console import Console

    from crisptree.lab.analysis.sampled_learning import (
        compare_learners,
        comparison_json,
        comparison_table,
    )
    from crisptree.learn.compilation_cache import enable_compilation_cache

    enable_compilation_cache()
    found = []
    with Console(stderr=True).status("Learning from experience …") as status:
        for result in compare_learners(setting):
            found.append(result)
            status.update(f"Learned: {result.method.name}, {result.method.handling} …")
    return comparison_json(found), comparison_table(setting, found)
