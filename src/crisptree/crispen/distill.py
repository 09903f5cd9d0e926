"""DAgger (Ross et al. 2011): a tree imitates a teacher on the states the tree itself visits."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.agreement import disagreement
from crisptree.crispen.fit import Fit, fit_cart
from crisptree.crispen.fit_alternating import alternated, targets_of
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy
from crisptree.envs.rollout import Rollouts, rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task

MOST_ROWS = 100_000
"""Most states a tree is fitted to; more only take more time."""


@runtime_checkable
class KnowsRegret(Protocol):
    """A teacher that knows what a wrong action costs."""

    def regret(self, observations: NDArray) -> NDArray[np.float64]:
        """What the worst action costs in each row, compared with the best."""
        ...


@runtime_checkable
class KnowsCosts(Protocol):
    """A teacher that knows what every choice costs, or how much less likely it would take it."""

    def regrets(self, observations: NDArray) -> NDArray[np.float64]:
        """What each choice costs in each row, compared with the best: `(rows, choices)`."""
        ...


class Distilled(NamedTuple):
    tree: CrispTree
    selection_return: float
    agreement: float
    """Share of the states on which tree and teacher agree (box: 1 - the mean square distance)."""
    best_return: float
    """The best return of an episode that the teacher or a tree played."""
    states: NDArray
    actions: NDArray
    teacher_return: float = float("nan")
    """The mean return of the teacher's own episodes, in the first round."""


def distill(
    teacher: Policy,
    task: Task,
    n_leaves: int,
    selection: Selection,
    *,
    seed: int,
    rounds: int = 30,
    episodes: int = 64,
    patience: int = 8,
    finalists: int = 6,
    final_rounds: Sequence[int] = (64, 128),
    weighted: bool | None = None,
    fit: Fit = fit_cart,
    alternate: bool = False,
    report: Callable[[int, float], object] = lambda round_, score: None,
    is_late: Callable[[], bool] = lambda: False,
) -> Distilled:
    """A tree of at most `n_leaves` leaves, fitted round after round to all states so far; the best
    round by return is kept.

    `weighted`: states count by what a wrong action costs there. `alternate`: the tree that was
    fitted, or the one of the round before if that is better, is improved by alternating
    optimisation. Rounds end if `is_late`, after `patience` rounds without a better tree, and once
    every episode of a tree earned the best that was ever earned.
    """
    if weighted is None:
        weighted = isinstance(teacher, KnowsRegret)
    states: list[NDArray] = []
    actions: list[NDArray] = []
    trees: list[CrispTree] = []
    scores: list[float] = []
    player: Policy = teacher
    best_return, teacher_return = -np.inf, float("nan")
    for round_ in range(rounds + 1):
        first = block_seed("training", episodes, seed, round_)
        seeds = range(first, first + episodes)
        seen = rollout([player], task, seeds, record=True, fast=True, deadline=selection.until())
        mean = float(seen.returns.mean())
        if round_:
            scores.append(mean)
        else:
            teacher_return = mean
        assert seen.observations is not None
        states.append(seen.observations)
        actions.append(np.asarray(teacher.act(seen.observations)))
        best_return = max(best_return, float(seen.returns.max()))
        report(round_, mean)
        if trees and (is_late() or _is_enough(scores, patience) or _is_perfect(seen, best_return)):
            break
        if round_ < rounds:
            rng = np.random.default_rng([seed, round_])
            every, labels = _sample(states, actions, rng)
            weights = _weights(teacher, every) if weighted else None
            tree = fit(every, labels, weights, n_leaves, task, seed)
            if alternate:
                regrets = teacher.regrets(every) if isinstance(teacher, KnowsCosts) else None
                targets = targets_of(task.actions, labels, weights, regrets)
                starts = [tree, *trees[-1:]]
                tree = alternated(starts, every, targets, n_leaves, task, rng)
            player = tree
            trees.append(tree)
    best = np.argsort(scores)[::-1][:finalists]
    index, score = selection.race([trees[i] for i in best], final_rounds)
    chosen = trees[best[index]]
    every, labels = _sample(states, actions, np.random.default_rng([seed, rounds]))
    agreement = 1 - float(disagreement(task.actions, chosen.act(every), labels).mean())
    return Distilled(chosen, score, agreement, best_return, every, labels, teacher_return)


def _is_enough(scores: Sequence[float], patience: int) -> bool:
    """Whether the best round was too long ago."""
    return len(scores) - 1 - int(np.argmax(scores)) >= patience if scores else False


def _is_perfect(seen: Rollouts, best_return: float) -> bool:
    return float(seen.returns.min()) >= best_return


def _sample(
    states: Sequence[NDArray], actions: Sequence[NDArray], rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """All states so far with their labels, or a sample large enough to fit a tree."""
    every, labels = np.concatenate(states), np.concatenate(actions)
    if len(every) <= MOST_ROWS:
        return every, labels
    rows = rng.choice(len(every), MOST_ROWS, replace=False)
    return every[rows], labels[rows]


def _weights(teacher: Policy, states: NDArray) -> NDArray[np.float64] | None:
    """The weight of each state by what a wrong action costs there, 1 on average; None if all are
    equal."""
    assert isinstance(teacher, KnowsRegret)
    regret = np.maximum(np.asarray(teacher.regret(states), np.float64), 0)
    mean = regret.mean()
    return None if mean <= 0 else np.maximum(regret / mean, 1e-3)
