"""What a tree does to CartPole, proved for every start or refuted by one that was replayed.

First a search: many starts are played, and those that come closest to leaving the goal are varied.
If one leaves it in gymnasium's own environment too, that is the answer. Then the proof: boxes that
hold every state, with ever more boxes while the time lasts.
"""

import time

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.verify import cartpole
from crisptree.verify.answer import Answer
from crisptree.verify.boxes import Box, NotABoxError, as_box
from crisptree.verify.conditions import Condition
from crisptree.verify.properties import Stays
from crisptree.verify.reach import stays_inside

STARTS, ROUNDS, CLOSEST = 1024, 6, 64
BUDGETS = (1_000, 5_000, 25_000, 125_000)
SHARE_OF_SEARCH = 0.3


def stays(tree: CrispTree, asked: Stays, question: str, *, seconds: float) -> Answer:
    """Whether CartPole keeps to the goal for all the steps, from every start."""
    if tree.env_id not in cartpole.ENV_IDS or (tree.n_features, tree.n_actions) != (4, 2):
        raise CrisptreeError(
            f"the dynamics of '{tree.env_id}' are not known; properties with 'stays' are for "
            f"policies of {' and '.join(cartpole.ENV_IDS)}"
        )
    begun = time.monotonic()
    start = _start(asked.start)
    limits = cartpole.physics().limits
    goal = np.stack([-limits, limits], 1) if asked.goal is None else _box(asked.goal, "goal")
    found = counterexample(tree, start, goal, asked.steps, begun + SHARE_OF_SEARCH * seconds)
    if found is not None:
        return _fails(tree, question, found)
    proved = 0
    for budget in BUDGETS:
        reached = stays_inside(
            tree, start, goal, asked.steps, most_boxes=budget, deadline=begun + seconds
        )
        proved = max(proved, reached.steps)
        details = {"proved_steps": proved, "boxes": budget, "start": start.tolist()}
        if proved == asked.steps:
            why = f"proved for every start, with at most {budget:,} boxes a step"
            return Answer(question, "holds", why, None, details)
        if reached.out_of_time:
            break
    why = (
        f"proved for the first {proved} steps; beyond them neither a proof nor a counterexample "
        f"was found in {seconds:g} s"
    )
    return Answer(question, "undecided", why, None, {**details, "seconds": seconds})


def counterexample(
    tree: CrispTree, start: Box, goal: Box, steps: int, deadline: float, seed: int = 0
) -> NDArray[np.float64] | None:
    """The states of an episode that leaves the goal within `steps` in gymnasium's CartPole."""
    rng = np.random.default_rng(seed)
    width = start[:, 1] - start[:, 0]
    starts = start[:, 0] + width * rng.integers(0, 2, (STARTS, len(start)))  # corners
    starts[STARTS // 4 :] = rng.uniform(start[:, 0], start[:, 1], starts[STARTS // 4 :].shape)
    for round_ in range(ROUNDS):
        nearness = _nearness(tree, starts, goal, steps, deadline)
        order = np.argsort(-nearness)
        for at in order[:3]:
            if nearness[at] > 0:
                states = cartpole.replay(tree, starts[at], steps)
                outside = ((states < goal[:, 0]) | (states > goal[:, 1])).any(axis=1)
                if outside.any():
                    return states[: int(np.argmax(outside)) + 1]
        if time.monotonic() > deadline:
            return None
        parents = starts[order[:CLOSEST]].repeat(STARTS // CLOSEST, axis=0)
        spread = width * 0.3 ** (round_ + 1)
        starts = np.clip(rng.normal(parents, spread), start[:, 0], start[:, 1])
    return None


def _nearness(
    tree: CrispTree, starts: NDArray[np.float64], goal: Box, steps: int, deadline: float
) -> NDArray[np.float64]:
    """How far each episode gets beyond the goal (above zero) or towards its edge, relative to how
    wide the goal is."""
    limits = cartpole.physics().limits
    finite = np.isfinite(goal)
    centre = np.where(finite.all(axis=1), goal.sum(axis=1, where=finite) / 2, 0.0)
    half = np.where(finite.all(axis=1), (goal[:, 1] - centre), 1.0)
    states, nearest = starts, np.full(len(starts), -np.inf)
    for at in range(steps + 1):
        beyond = np.maximum(states - goal[:, 1], goal[:, 0] - states) / np.maximum(half, 1e-12)
        nearest = np.maximum(nearest, beyond.max(axis=1))
        goes_on = np.logical_or((np.abs(states) <= limits).all(axis=1), at == 0)
        if not goes_on.any() or time.monotonic() > deadline:
            break
        actions = tree.predict(states.astype(np.float32))[0]
        # An episode that ended stands still where it ended.
        states = np.where(goes_on[:, None], cartpole.step(states, actions), states)
    return nearest


def _start(condition: Condition) -> Box:
    """The start as a box; a feature it does not mention starts as the reset has it."""
    box = _box(condition, "start")
    given = np.isfinite(box)
    unmentioned = ~given.any(axis=1)
    box[unmentioned] = [-cartpole.RESET, cartpole.RESET]
    if not np.isfinite(box).all():
        raise CrisptreeError("a start needs a lower and an upper bound for each feature it names")
    if (box[:, 0] > box[:, 1]).any():
        raise CrisptreeError("no state meets the start's condition")
    if (np.abs(box[2]) > np.pi / 2).any():
        raise CrisptreeError("a start's pole angle must lie within ±π/2")
    return box


def _box(condition: Condition, what: str) -> Box:
    try:
        return as_box(condition, 4)
    except NotABoxError:
        raise CrisptreeError(
            f"the {what} must be comparisons of single features with numbers, joined by 'and'"
        ) from None


def _fails(tree: CrispTree, question: str, states: NDArray[np.float64]) -> Answer:
    names = map(printable, tree.feature_names)
    last = ", ".join(f"{name} {value:.6g}" for name, value in zip(names, states[-1], strict=True))
    step = len(states) - 1
    when = f"at step {step}" if step else "at the start already"
    why = f"from this state the goal is left {when}, replayed in gymnasium's CartPole-v1: {last}"
    start = tuple(states[0].tolist())
    details = {"step": step, "state": states[-1].tolist()}
    return Answer(question, "fails", why, start, details)
