"""`crisptree verify`: prove properties of a policy, or see why they fail."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import optional

if TYPE_CHECKING:
    from crisptree.crisp import CrispTree
    from crisptree.verify import Answer


@dataclass(frozen=True)
class Command:
    """Prove properties of a policy, or see an observation for which they fail.

    never|always|sometimes|where ACTION [when CONDITION]; same as "FILE"; symmetric under -FEATURE,
    NAME <-> NAME, …; increasing|decreasing in FEATURE; from CONDITION stays up for N steps.
    Exit code: 0 if all hold, 1 if one fails, 3 if one is undecided.
    """

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="POLICY")]
    """The policy file."""
    property: Annotated[
        tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="PROPERTY")
    ] = ()
    """A property; may be given several times."""
    file: Annotated[Path | None, optional("FILE")] = None
    """A file of properties, one a line; lines that start with # are comments."""
    floats: Literal[64, 32] = 64
    """What observations are made of: float64, or float32 as most environments have it."""
    seconds: float = 60.0
    """How long to try each property before it counts as undecided."""
    json: bool = False
    """Print one JSON object, and nothing else, on standard output."""

    def run(self) -> None:
        import numpy as np

        from crisptree.commands.shared import loaded
        from crisptree.verify import verify

        if not 0 < self.seconds < 1e6:
            raise CrisptreeError(f"--seconds is {self.seconds}; it must be above 0")
        tree = loaded(self.policy)
        dtype = {64: np.float64, 32: np.float32}[self.floats]
        answers = []
        for question in (*self.property, *self._from_file()):
            answers.append(verify(tree, question, dtype=dtype, seconds=self.seconds))
            if not self.json:
                print(told(answers[-1], tree))
        if not answers:
            raise CrisptreeError('nothing to prove; --property "never ACTION when …" says what')
        if self.json:
            print(json.dumps({"answers": [answer.to_dict() for answer in answers]}))
        verdicts = {answer.verdict for answer in answers}
        if verdicts != {"holds"}:
            sys.exit(1 if "fails" in verdicts else 3)

    def _from_file(self) -> list[str]:
        if self.file is None:
            return []
        try:
            lines = self.file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CrisptreeError(f"cannot read the properties in {self.file}: {error}") from None
        return [line for line in map(str.strip, lines) if line and not line.startswith("#")]


def told(answer: "Answer", tree: "CrispTree") -> str:
    """The answer in a few lines."""
    from crisptree.base.text import printable

    regions = answer.details.get("regions")
    verdict = answer.verdict.upper() if regions is None else "REGIONS"
    lines = [f"{verdict:9} {printable(answer.question)}", f"{'':9} {answer.why}"]
    for region in regions or ():
        lines.append(f"{'':11} {' and '.join(map(_interval, region)) or 'everywhere'}")
    if regions is None and answer.observation is not None:
        names = map(printable, tree.feature_names)
        shown = zip(names, answer.observation, strict=True)
        lines += [f"{'':11} {name} = {value!r}" for name, value in shown]
    return "\n".join(lines)


def _interval(bound: dict) -> str:
    from crisptree.base.text import printable

    above = "" if bound["above"] is None else f"{bound['above']!r} < "
    at_most = "" if bound["at_most"] is None else f" ≤ {bound['at_most']!r}"
    return f"{above}{printable(bound['feature'])}{at_most}"
