"""A decision-making aid: a policy as a person sees it, with what is needed to ask about it.

A person reads rounded numbers. So an aid answers for the policy *as shown*, and says for which
states the rounding leaves no doubt; questions are asked about those alone.
"""

from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from crisptree.crisp import CrispTree
from crisptree.lab.study.mlp import LinearMLP

Kind = Literal["tree", "list", "mlp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
States = Float[np.ndarray, "states features"]


@runtime_checkable
class Aid(Protocol):
    """A policy drawn for people, and the policy they read off the drawing."""

    @property
    def kind(self) -> Kind: ...
    @property
    def policy(self) -> CrispTree | LinearMLP: ...
    def places(self, states: States) -> Int[np.ndarray, " states"]:
        """Where in the aid each state ends: two states with one place are read alike."""
        ...

    def actions(self, states: States) -> Int[np.ndarray, " states"]:
        """The action a careful reader finds."""
        ...

    def is_clear(
        self, states: States, units: Float[np.ndarray, " features"]
    ) -> Bool[np.ndarray, " states"]:
        """Where no comparison is closer than the last digit of the numbers shown."""
        ...

    def worked(self, shown: tuple[str, ...]) -> tuple[str, ...]:
        """The way through the aid for one state, as sentences."""
        ...

    def how_to_read(self) -> str:
        """What to do with the drawing, for somebody who sees one like it for the first time."""
        ...

    def drawing(self) -> str:
        """SVG."""
        ...

    def spoken(self) -> str:
        """The drawing's content as text, for people who hear the page."""
        ...


def minus(text: str) -> str:
    """A typeset minus sign, as in the drawings."""
    return text.replace("-", "−")
