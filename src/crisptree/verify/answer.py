"""What a question gets for an answer."""

import builtins
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["holds", "fails", "undecided"]


@dataclass(frozen=True)
class Answer:
    """`holds` and `fails` are certain: proved for every observation, or shown by one that was tried
    in the tree (or the environment) itself."""

    property: str
    """As it was asked."""
    verdict: Verdict
    why: str
    """One sentence."""
    observation: tuple[float, ...] | None = None
    """One that shows it: a counterexample, or an example if the question was for one."""
    details: dict[str, Any] = field(default_factory=dict)
    """More, by name, for a program to read."""
    seconds: float = 0.0
    """How long it took to find."""

    @builtins.property
    def counterexample(self) -> tuple[float, ...] | None:
        """The observation, or the start of an episode, for which the property fails."""
        return self.observation if self.verdict == "fails" else None

    def to_dict(self) -> dict[str, Any]:
        shown = None if self.observation is None else list(self.observation)
        return {
            "property": self.property,
            "verdict": self.verdict,
            "why": self.why,
            "observation": shown,
            "seconds": round(self.seconds, 3),
            **self.details,
        }
