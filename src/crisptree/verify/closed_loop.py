"""What a tree does to a plant, proved for every start or refuted by one that was replayed.

First a search: many starts are played, and those that come closest to breaking the claim are
varied. If one breaks it in the plant, and in the environment where there is one, that is the
answer. Then the proof: covers that hold every state, finer and finer while the time lasts.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import counted, printable
from crisptree.base.version import crisptree_version
from crisptree.crisp import CrispTree
from crisptree.envs.guard import guarded
from crisptree.verify import certificate
from crisptree.verify.answer import Answer
from crisptree.verify.boxes import NotABoxError, as_box
from crisptree.verify.claims import Claim, Judge, loop_of
from crisptree.verify.conditions import Condition
from crisptree.verify.falsify import Counterexample, Falsifier
from crisptree.verify.intervals import INTERVALS, Interval
from crisptree.verify.loop import Loop
from crisptree.verify.plants.plant import EQUATIONS, Plant
from crisptree.verify.plants.registry import PLANTS
from crisptree.verify.properties import Influences, InTheLoop
from crisptree.verify.prove import Cells, attempts
from crisptree.verify.reach import Attempt
from crisptree.verify.replay import disagreement, replayed
from crisptree.verify.tubes import TubeAttempt

SHARE_OF_SEARCH = 0.3
COMPARED_STEPS = 50


@dataclass(frozen=True)
class Effort:
    """How long to try, and with which cells."""

    seconds: float = 60.0
    cells: Cells = field(default_factory=Cells)


def claim_of(asked: InTheLoop, plant: Plant) -> Claim:
    """A property of the closed loop in numbers."""
    start = plant.reset_box if asked.start is None else _start(asked.start, plant)
    if asked.region is not None:
        region = _box(asked.region, plant, "region")
    elif asked.kind == "stays":
        if not plant.limits:
            raise CrisptreeError(
                f"the plant {plant.name} has no limits; say in which region it stays"
            )
        region = plant.box(plant.limits)
    else:
        if not plant.goal:
            raise CrisptreeError(f"the plant {plant.name} has no goal; say which region is reached")
        region = plant.box(plant.goal)
    if asked.kind == "settles" and plant.goal:
        raise CrisptreeError(f"episodes of {plant.name} end in its goal; nothing stays there")
    influences = asked.influences
    return Claim(
        asked.kind,  # type: ignore[arg-type]
        start,
        region,
        asked.steps,
        _noise(influences, plant),
        int(influences.delay),
        _disturbance(influences, plant),
    )


def _start(condition: Condition, plant: Plant) -> NDArray[np.float64]:
    """The start as a box; a state it does not mention starts as the reset has it."""
    box = _box(condition, plant, "start")
    n = len(plant.states)
    if np.isfinite(box[n:]).any():
        raise CrisptreeError(f"a start speaks of states: {', '.join(plant.states)}")
    box = box[:n]
    unmentioned = ~np.isfinite(box).any(axis=1)
    box[unmentioned] = plant.reset_box[unmentioned]
    if not np.isfinite(box).all():
        raise CrisptreeError("a start needs a lower and an upper bound for each state it names")
    if (box[:, 0] > box[:, 1]).any():
        raise CrisptreeError("no state meets the start's condition")
    return box


def _box(condition: Condition, plant: Plant, what: str) -> NDArray[np.float64]:
    try:
        return as_box(condition, len(plant.quantities))
    except NotABoxError:
        raise CrisptreeError(
            f"the {what} must be comparisons of single states with numbers, joined by 'and'"
        ) from None


def _noise(influences: Influences, plant: Plant) -> tuple[float, ...]:
    if not influences.noise:
        return ()
    found = dict.fromkeys(plant.feature_names, influences.noise.get(-1, 0.0))
    for at, size in influences.noise.items():
        if at >= 0 and plant.quantities[at] not in found:
            raise CrisptreeError(
                f"the policy does not see {plant.quantities[at]}; it sees {', '.join(found)}"
            )
        if at >= 0:
            found[plant.quantities[at]] = size
    return tuple(found.values())


def _disturbance(influences: Influences, plant: Plant) -> tuple[tuple[float, float], ...]:
    found = []
    for at, bounds in enumerate(plant.disturbance.values()):
        size = influences.disturbance.get(at, influences.disturbance.get(-1))
        found.append(bounds if size is None else (-size, size))
    return tuple(found)


@dataclass(frozen=True)
class Proved:
    """A property of the closed loop and its answer, with the certificate if it holds."""

    answer: Answer
    certificate: dict[str, Any] | None = None


def decide(
    tree: CrispTree, plant: Plant, asked: InTheLoop, question: str, effort: Effort
) -> Proved:
    """Whether the claim holds from every start."""
    check_fit(tree, plant)
    check_model(plant)
    claim = claim_of(asked, plant)
    begun = time.monotonic()
    loop, judge = loop_of(tree, plant, claim), Judge(plant, claim)
    deadline = begun + effort.seconds
    found = Falsifier(loop, judge).search(begun + SHARE_OF_SEARCH * effort.seconds)
    if found is not None:
        return Proved(_fails(loop, judge, question, found))
    proved, why_not = 0, ""
    for attempt in attempts(loop, judge, deadline, effort.cells):
        proved = max(proved, attempt.shown_steps)
        if attempt.is_proof:
            return _holds(loop, judge, question, attempt, time.monotonic() - begun)
        why_not = attempt.reason
    taken = time.monotonic() - begun
    so_far = f"proved for the first {proved} steps; beyond them "
    if claim.kind == "reaches":
        so_far = "that every start arrives is not shown; "
    why = f"{so_far}neither a proof nor a counterexample was found in {taken:.3g} s"
    if taken < effort.seconds:
        why += f": {why_not}, and with these cells there is no more to try"
    details = {"proved_steps": proved}
    return Proved(Answer(question, "undecided", why, None, details))


def check_model(plant: Plant) -> None:
    """Refuse a plant of the user's own whose steps differ from those of the environment it names.

    Those that come with crisptree are compared in its tests.
    """
    if plant in PLANTS:
        return
    tried_out(plant)
    if plant.env_id is None:
        return
    difference = disagreement(plant, COMPARED_STEPS)
    if difference is not None:
        raise CrisptreeError(
            f"the plant {plant.name} disagrees with {plant.env_id}: {printable(difference)}"
        )


def tried_out(plant: Plant) -> None:
    """Refuse a plant whose equations do not compute, with numbers or with intervals."""
    start = plant.reset_box.mean(axis=1)
    actions = plant.actions
    if actions.kind == "discrete":
        action: Any = 0
    else:
        action = [0] * len(actions.names) if actions.kind != "box" else list(actions.low)
    given = [Interval(low, high) for low, high in plant.disturbance_box]
    with guarded(plant.name, EQUATIONS, "plant"):
        plant.play(start[None], np.array([action]), plant.disturbance_box[:, :1].T)
        plant.observations(start[None])
        state = [Interval(np.array([each]), np.array([each])) for each in start]
        after = list(plant.step(INTERVALS, state, action, given))
        plant.measure(INTERVALS, after)
        plant.observe(INTERVALS, after)


def check_fit(tree: CrispTree, plant: Plant) -> None:
    """Refuse a tree that sees or does something else than the plant has."""
    if len(tree.features) > tree.n_features:
        raise CrisptreeError(
            "proofs about the closed loop are for policies that ask for single features; this one "
            "has derived ones"
        )
    if tree.n_features != len(plant.feature_names):
        raise CrisptreeError(
            f"the policy sees {tree.n_features} features, the plant {plant.name} shows "
            f"{len(plant.feature_names)}"
        )
    ours, theirs = tree.actions, plant.actions
    if (ours.kind, len(ours.names)) != (theirs.kind, len(theirs.names)):
        raise CrisptreeError(
            f"the policy's actions are {ours.kind} with {len(ours.names)} names, those of the "
            f"plant {plant.name} {theirs.kind} with {len(theirs.names)}"
        )


def _holds(
    loop: Loop, judge: Judge, question: str, attempt: Attempt | TubeAttempt, seconds: float
) -> Proved:
    boxes = attempt.boxes
    shown = "for ever" if attempt.is_for_ever else f"{judge.claim.steps} steps"
    why = f"proved for every start, {shown}, with {counted(boxes, 'box', 'boxes')}"
    made = {"crisptree": crisptree_version(), "boxes": boxes, "seconds": round(seconds, 1)}
    content = certificate.certificate(
        loop.tree,
        judge.plant,
        judge.claim,
        question,
        attempt,
        made=made,
    )
    unreached = sorted({visit.node for visit in loop.tree.leaves()} - attempt.leaves)
    if unreached:
        why += f"; {leaves_in_words(unreached)} never reached"
    details = {
        "boxes": boxes,
        "start": judge.claim.start.tolist(),
        "unreached_leaves": unreached,
    }
    return Proved(Answer(question, "holds", why, None, details), content)


def leaves_in_words(leaves: Sequence[int]) -> str:
    """`leaf 3 is` or `leaves 3, 7 are`."""
    numbers = ", ".join(map(str, leaves))
    return f"leaf {numbers} is" if len(leaves) == 1 else f"leaves {numbers} are"


def _fails(loop: Loop, judge: Judge, question: str, found: Counterexample) -> Answer:
    names = judge.plant.state_names
    last = found.states[-1][: len(names)]
    step = len(found.states) - 1
    shown = ", ".join(
        f"{printable(name)} {value:.6g}" for name, value in zip(names, last, strict=True)
    )
    when = f"at step {step}" if step else "at the start already"
    what = {
        "stays": f"the region is left {when}",
        "reaches": f"the region is not reached in {step} steps",
        "settles": f"it is not in the region {when}",
    }[judge.claim.kind]
    where = replayed(loop, judge, found)
    why = f"from this state {what}{where}: {shown}"
    start = tuple(found.states[0][: len(names)].tolist())
    course = found.states[:, : len(names)].tolist()
    details = {"step": step, "state": last.tolist(), "states": list(names), "course": course}
    if found.acting.size:
        details["disturbance"] = found.acting.tolist()
    return Answer(question, "fails", why, start, details)
