"""What can be asked, as data; `language.py` reads it from text."""

from dataclasses import dataclass

from crisptree.crisp import CrispTree
from crisptree.verify.conditions import ALWAYS, Condition


@dataclass(frozen=True)
class Never:
    """`never ACTION when CONDITION`."""

    action: int
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Always:
    """`always ACTION when CONDITION`."""

    action: int
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Sometimes:
    """`sometimes ACTION when CONDITION`: some observation leads to it."""

    action: int
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Where:
    """`where ACTION when CONDITION`: which observations lead to it."""

    action: int
    when: Condition = ALWAYS


@dataclass(frozen=True)
class SameAs:
    """`same as FILE when CONDITION`: both trees take the same action."""

    other: CrispTree
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Mirror:
    """An observation's image: feature f of it is `sign[f] · x[source[f]]`. The action in a mirrored
    world is `actions[action]`."""

    source: tuple[int, ...]
    sign: tuple[int, ...]
    actions: tuple[int, ...]


@dataclass(frozen=True)
class Symmetric:
    """`symmetric under MIRROR when CONDITION`: the mirrored observation leads to the mirrored
    action. Observations with a value exactly on a threshold, in front of the mirror or behind it,
    do not count: `x > t` and its mirror image `x < -t` part ways there in every tree."""

    mirror: Mirror
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Monotone:
    """`increasing in FEATURE when CONDITION`: more of it never gives an action of a lower number,
    or of a higher one if `decreasing`. Both observations must meet the condition."""

    feature: int
    decreasing: bool
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Stays:
    """`from START stays GOAL for N steps`, in the environment's dynamics; without a goal `stays
    up`, which is to say that the episode goes on."""

    start: Condition
    goal: Condition | None
    steps: int


TreeProperty = Never | Always | Sometimes | Where | SameAs | Symmetric | Monotone
Property = TreeProperty | Stays
