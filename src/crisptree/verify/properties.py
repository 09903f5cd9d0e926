"""What can be asked, as data; `language.py` reads it from text."""

from dataclasses import dataclass, field

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
class Bounded:
    """`torque <= 1 when CONDITION`: every action so meets a condition on its own numbers.

    The numbers of an action are the dimensions of a real vector, or the choices of its parts,
    counted from 0.
    """

    actions: Condition
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Jumps:
    """`jumps at most N when CONDITION`: where two leaves meet, no dimension of the action differs
    by more. Discrete choices have no distance."""

    most: float
    when: Condition = ALWAYS


@dataclass(frozen=True)
class Slopes:
    """`changes at most N per FEATURE when CONDITION`: inside a leaf no dimension of the action
    changes faster with a feature."""

    most: float
    feature: int
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
class Influences:
    """`with noise 0.01 on FEATURE, disturbance 0.1 on NAME, delay`: what lies between policy and
    plant."""

    noise: dict[int, float] = field(default_factory=dict)
    """By quantity; -1 for every feature."""
    disturbance: dict[int, float] = field(default_factory=dict)
    """By number: ± this, in the place of the plant's own bounds; -1 for each."""
    delay: bool = False


@dataclass(frozen=True)
class InTheLoop:
    """`from START stays REGION for N steps`, `… for ever`, `from START reaches REGION within N
    steps`, `… and stays`: what a closed loop does. Without a region: that the episode goes on
    (`stays up`), or the plant's goal (`reaches the goal`)."""

    kind: str
    """stays, reaches or settles, as in `claims.py`."""
    start: Condition | None
    """None: wherever episodes start."""
    region: Condition | None
    steps: int | None
    influences: Influences = field(default_factory=Influences)


TreeProperty = (
    Never | Always | Sometimes | Where | Bounded | Jumps | Slopes | SameAs | Symmetric | Monotone
)
Property = TreeProperty | InTheLoop
