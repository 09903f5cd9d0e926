"""Learns a model of the environment by trying every action in every state, and searches for the
best tree on it."""

import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crisptree.crispen.draft import Leaf, tree_of
from crisptree.envs.transition_table import TransitionTable
from crisptree.learn.exact_model import ExactModel
from crisptree.learn.exploration import CERTAIN, Explored, explore, practised
from crisptree.learn.value_iteration import ExactPolicy, best_policy, value_iteration
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.stages.model_search import LONGEST, Found, best_tree

N_ENVS = 64
"""Environments that explore side by side."""
MOST_DOUBT = 0.1
"""Largest doubt about the mean of episodes, as a share of what the model promises beyond random
play."""
LEAST_EPISODES = 32
"""Episodes that settle a tree at least: of fewer, a tree that fails in one of ten may win all."""
DISCOUNTS = (0.9, 0.8, 0.97)
"""Discounts that are tried in turn if the model promises more than episodes earn."""
PRACTICE, PRACTICES = 8, 6
"""How many steps of exploration there are for one of practice, and how often a tree practises at
most."""
PATIENCE = 2
"""Times in a row that a tree which earns enough practises in vain before it stays as it is."""
BEFORE_PRACTICE = 2
"""Discounts that are tried before a tree practises, in a partially observed environment."""


@dataclass(frozen=True)
class Explore(Stage):
    """Learns the model."""

    name: str = "explore"
    weight: float = 1.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"steps": config.steps}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        assert context.config.steps is not None
        explored = explore(
            context.task,
            N_ENVS,
            context.config.steps,
            context.seed % 2**31,
            context.is_late,
            context.advance,
            # Steps that follow from the speed of a moment are no limit; the time is.
            tries=CERTAIN if context.config.budget is not None else 0,
        )
        if explored is None:
            return replace(inputs, figures={"states": "too many"})
        figures = {"steps": explored.steps, "states": len(explored.start)}
        return replace(inputs, learner=explored, figures=figures)

    def save(self, made: Artifacts, folder: Path) -> None:
        if made.learner is not None:
            explored: Explored = made.learner
            columns = {**explored.table._asdict(), "start": explored.start}
            columns["numbers"] = np.array([explored.horizon, explored.steps])
            np.savez_compressed(folder / "table.npz", **columns)

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        if not (folder / "table.npz").exists():
            return inputs
        with np.load(folder / "table.npz") as kept:
            table = TransitionTable(*(kept[name] for name in TransitionTable._fields))
            learner = Explored(table, kept["start"], *map(int, kept["numbers"]))
            return replace(inputs, learner=learner)


@dataclass(frozen=True)
class SearchLearned(Stage):
    """The best tree on the model, by what it earns in episodes.

    Where observations do not tell all, the model takes what is fixed in an episode for chance, and
    believes that a detour helps. With a discount detours cost something, so that trees for several
    are tried. If none earns what the model promises, the best one practises: the model learns what
    follows on its own way, and the next tree is looked for on that. The stage is settled if a tree
    earns what the first model promises.
    """

    name: str = "model-search"
    weight: float = 1.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "leaves": config.policy.leaves,
            "trust": config.table.trust,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        explored: Explored | None = inputs.learner
        if explored is None:  # the model was too large
            tree = tree_of(Leaf(0), context.task)
            return replace(inputs, tree=tree, figures={"leaves": 1, "settled": False})
        plain = ExactModel(explored.table, explored.start, explored.horizon)
        random = plain.baselines().random_return or 0.0
        trust = context.config.table.trust
        trusted = lambda mean: mean - trust * max(0.0, mean - random)
        tried: list[_Tried] = []
        promised, enough, is_partial = -math.inf, -math.inf, False
        for number, discount in enumerate((1.0, *DISCOUNTS)):
            if tried and (max(each.mean for each in tried) >= enough or context.is_late()):
                break
            if is_partial and len(tried) == BEFORE_PRACTICE:
                break
            tried.append(_tried(explored, discount, context, len(DISCOUNTS) + 2 - number))
            promised = max(plain.mean_return(each.found.tree) for each in tried)
            if any(each.is_cut for each in tried):  # there may be better trees than were found
                promised = max(promised, tried[0].found.optimum)
            enough = trusted(promised)
            own = plain.mean_return(tried[0].found.tree)
            is_partial = tried[0].mean + tried[0].doubt < trusted(own)
        best = max(tried, key=lambda each: each.mean)
        if is_partial:
            best = _after_practice(best, explored.steps // PRACTICE, enough, context)
        if best.is_cut and not context.is_late():
            longer = _tried(best.explored, best.discount, context, 1)
            # Of two trees for one discount the model ranks the better one first, up to its own
            # errors.
            if longer.found.mean > best.found.mean and longer.mean >= best.mean - best.doubt:
                best = longer
        figures = {
            "leaves": best.found.tree.n_leaves,
            "selection_return": best.mean,
            "promised": promised,
            # A few episodes show nothing.
            "settled": best.n_episodes >= LEAST_EPISODES
            and best.mean >= enough - min(best.doubt, MOST_DOUBT * (promised - random)),
        }
        return replace(inputs, tree=best.found.tree, figures=figures)


def _after_practice(best: "_Tried", n_steps: int, enough: float, context: Context) -> "_Tried":
    """The best tree of all, after the best one so far has practised again and again for `n_steps`
    steps. It ends when a tree that earns enough gets no better any more."""
    others = [discount for discount in (1.0, *DISCOUNTS) if discount != best.discount]
    in_vain = 0
    for number in range(PRACTICES):
        if context.is_late() or (best.mean >= enough and in_vain == PATIENCE):
            break
        model = _practised(best, n_steps, number, context)
        is_other = number % 2 == 1 and best.mean < enough
        discount = others[number // 2 % len(others)] if is_other else best.discount
        later = _tried(model, discount, context, PRACTICES - number)
        in_vain = 0 if later.mean > best.mean else in_vain + 1
        best = max(best, later, key=lambda each: each.mean)
    return best


def _practised(best: "_Tried", n_steps: int, number: int, context: Context) -> Explored:
    """The model that a tree was found on, after the tree has practised for the `number`th time."""
    return practised(
        best.explored,
        best.found.tree.act,
        context.task,
        N_ENVS,
        max(N_ENVS, n_steps),
        (context.seed + 1 + number) % 2**31,
        context.is_late,
    )


class _Tried(NamedTuple):
    """A tree for a model and a discount, and what it earns in episodes."""

    explored: Explored
    discount: float
    found: Found
    is_cut: bool
    """Whether there was no time to look further."""
    mean: float
    doubt: float
    n_episodes: int


def _tried(explored: Explored, discount: float, context: Context, parts: int) -> _Tried:
    """The tree found in one of so many parts of the remaining time."""
    left = min(LONGEST, max(0.0, context.deadline - time.monotonic()))
    until = time.monotonic() + left / parts
    found = _found(explored, discount, context, until)
    is_cut = time.monotonic() >= until
    judge = context.selection().careful()  # the same episodes for all
    returns = judge.returns([found.tree], context.config.selection.final, LEAST_EPISODES)[0]
    doubt = 2 * float(returns.std()) / math.sqrt(len(returns))
    mean = float(returns.mean())
    return _Tried(explored, discount, found, is_cut, mean, doubt, len(returns))


def _found(explored: Explored, discount: float, context: Context, until: float) -> Found:
    """The best tree on the model under a discount."""
    table, start, horizon = explored.table, explored.start, explored.horizon
    if discount == 1:
        teacher = best_policy(table, start, horizon)
    else:
        teacher = ExactPolicy(value_iteration(table, discount), table.observations)
    return best_tree(ExactModel(table, start, horizon, discount), teacher, context, until)
