"""`crisptree verify`: prove properties of a policy, or see why they fail."""

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import option, positional, repeated

if TYPE_CHECKING:
    from crisptree.crisp import CrispTree
    from crisptree.verify import Answer, Plant
    from crisptree.verify.prove import Cells
    from crisptree.verify.robustness import LeafFact


@dataclass(frozen=True)
class Command:
    """Prove properties of a policy, or see an observation for which they fail.

    Properties: never|always|sometimes|where ACTION [when CONDITION]; |torque| <= 1 [when
    CONDITION]; same as "FILE"; symmetric under -FEATURE, NAME <-> NAME, …; increasing|decreasing in
    FEATURE; from CONDITION stays up for N steps; from CONDITION reaches CONDITION within N steps
    [and stays]. Exit code: 0 if all hold, 1 if one fails, 3 if one is undecided.
    """

    policy: Annotated[str, positional("POLICY")]
    """The policy file, or the directory of a run."""
    property: Annotated[tuple[str, ...], repeated("PROPERTY")] = ()
    """A property; may be given several times."""
    file: Annotated[Path | None, option("FILE")] = None
    """A file of properties, one per line; lines that start with # are comments."""
    plant: Annotated[str | None, option("PLANT")] = None
    """The system a closed loop is about: CartPole, MountainCar, …, or module:NAME of your own."""
    certificate: Annotated[Path | None, option("FILE")] = None
    """Write the proof of a property of the closed loop to a file."""
    check: Annotated[Path | None, option("FILE")] = None
    """Check a certificate again, with a checker of its own."""
    cells: Annotated[str | None, option("CELLS")] = None
    """How finely states are looked at: "angle 1/64 whole, velocity 0.1"; tried out unless given.
    Along a whole one a box is as wide as its cell."""
    stride: Annotated[int | None, option("N")] = None
    """Steps from one cover of the states to the next; tried out unless given."""
    about: Annotated[str | None, option("OBSERVATION")] = None
    """Numbers of an observation: which leaf decides, and the least change that flips it."""
    leaves: bool = False
    """Show each leaf: whether it can be reached, and how far its inside lies from others."""
    along: Annotated[str | None, option("FILE|N")] = None
    """How firmly it decides at the observations of a CSV file, a row each, or in N episodes of the
    policy's environment."""
    env: str | None = None
    """For episodes: the environment, where it is not the one in the file."""
    features: str | None = None
    """For episodes: `module:function` that computes the policy's features, if it uses one."""
    domain: Annotated[str | None, option("CONDITION")] = None
    """Bounds of every feature: which leaves decide in this operating domain, and its shares."""
    vectors: Annotated[Path | None, option("FILE")] = None
    """Write test vectors as CSV that show each question to decide alone (MC/DC)."""
    floats: Literal[64, 32] = 64
    """What observations are made of: float64, or float32 as most environments have it."""
    seconds: float = 60.0
    """How long to try each property, or to check a certificate, before it counts as undecided."""
    json: bool = False
    """Print one JSON object, and nothing else, on standard output."""

    def run(self) -> None:
        from crisptree.commands.shared import lines_of, loaded

        if not 0 < self.seconds < 1e6:
            raise CrisptreeError(f"--seconds is {self.seconds}; it must be above 0")
        tree = loaded(self.policy)
        asked = [*self.property, *(() if self.file is None else lines_of(self.file))]
        others = (self.check, self.about, self.along, self.domain, self.vectors)
        if not asked and not self.leaves and all(each is None for each in others):
            raise CrisptreeError('nothing to prove; --property "never ACTION when …" says what')
        printed: dict[str, Any] = {}
        if self.leaves:
            printed["leaves"] = self._show_leaves(tree)
        if self.about is not None:
            printed["about"] = self._show_about(tree, self.about)
        if self.along is not None:
            printed["along"] = self._show_along(tree, self.along)
        if self.domain is not None:
            printed["domain"] = self._show_domain(tree, self.domain)
        if self.vectors is not None:
            printed["vectors"] = self._write_vectors(tree, self.vectors)
        verdicts: set[str] = set()
        if self.check is not None:
            printed["check"] = self._checked(tree)
            verdicts.add(printed["check"]["verdict"])
        if asked:
            printed["answers"] = [answer.to_dict() for answer in self._answers(tree, asked)]
            verdicts |= {answer["verdict"] for answer in printed["answers"]}
        if self.json:
            print(json.dumps(printed))
        if verdicts - {"holds"}:
            sys.exit(1 if verdicts & {"fails", "rejected"} else 3)

    def _answers(self, tree: "CrispTree", asked: list[str]) -> list["Answer"]:
        import numpy as np

        from crisptree.verify import certificate, prove

        plant, cells = self._plant(), self._cells()
        dtype = {64: np.float64, 32: np.float32}[self.floats]
        found, written = [], 0
        for question in asked:
            proved = prove(
                tree, question, dtype=dtype, seconds=self.seconds, plant=plant, cells=cells
            )
            found.append(proved.answer)
            if not self.json:
                print(told(proved.answer, tree))
            if self.certificate is not None and proved.certificate is not None:
                written += 1
                if written > 1:
                    raise CrisptreeError("a certificate holds one proof; ask for one at a time")
                certificate.write(self.certificate, proved.certificate)
                if not self.json:
                    print(f"{'':9} the proof is in {self.certificate}")
        if self.certificate is not None and not written:
            note = "no certificate is written: only a proof about the closed loop has one"
            print(f"crisptree: {note}", file=sys.stderr)
        return found

    def _plant(self) -> "Plant | None":
        from crisptree.verify.plants import plant_named

        return None if self.plant is None else plant_named(self.plant)

    def _cells(self) -> "Cells | None":
        from crisptree.verify.prove import cells_of

        if self.stride is not None and self.stride < 1:
            raise CrisptreeError(f"--stride is {self.stride}; it must be at least 1")
        return cells_of(self.cells or "", self.stride)

    def _checked(self, tree: "CrispTree") -> dict[str, Any]:
        from crisptree.base.text import counted, printable
        from crisptree.verify import certificate
        from crisptree.verify.closed_loop import leaves_in_words
        from crisptree.verify.recheck import recheck

        assert self.check is not None
        content = certificate.read(self.check)
        verdict = recheck(content, tree, self._plant(), self.seconds)
        word = "holds" if verdict.holds else "undecided" if verdict.is_undecided else "rejected"
        property_ = str(content.get("property"))
        if not self.json:
            print(f"{word.upper():9} {printable(property_)}")
            boxes = f", {counted(verdict.boxes, 'box', 'boxes')}" if verdict.holds else ""
            print(f"{'':9} {printable(verdict.reason)}{boxes}")
            if verdict.unreached:
                print(f"{'':9} {leaves_in_words(verdict.unreached)} never reached")
        return {
            "property": property_,
            "verdict": word,
            "holds": verdict.holds,
            "why": verdict.reason,
            "unreached_leaves": list(verdict.unreached),
        }

    def _show_leaves(self, tree: "CrispTree") -> list[dict[str, Any]]:
        from crisptree.base.text import aligned
        from crisptree.verify.robustness import leaf_facts

        facts = leaf_facts(tree)
        if not self.json:
            rows = [["leaf", "action", "reached", "half width", "where"]]
            for fact in facts:
                reached = "yes" if fact.is_reachable else "never"
                width = f"{fact.half_width:.6g}"
                rows.append([str(fact.leaf), fact.action, reached, width, where(fact, tree)])
            print(aligned(rows))
        return [fact.to_dict() for fact in facts]

    def _show_about(self, tree: "CrispTree", text: str) -> dict[str, Any]:
        from crisptree.base.text import printable
        from crisptree.verify.robustness import nearest_flip, numbers_of

        observation = numbers_of(text, tree)
        flip = nearest_flip(tree, observation)
        if not self.json:
            print(f"leaf {flip.leaf}: {printable(flip.action)}")
            if flip.radius is None:
                print("no change of the observation flips it")
            else:
                print(f"it holds while every feature moves by less than {flip.radius!r}")
                changes = [f"{printable(name)} = {value!r}" for name, value in flip.changes.items()]
                print(f"{', '.join(changes)} makes it {printable(flip.instead or '')}")
        return flip.to_dict()

    def _show_along(self, tree: "CrispTree", source: str) -> dict[str, Any]:
        from crisptree.commands.shared import playing
        from crisptree.verify.robustness import along, observations_of

        with playing(self.env or tree.env_id):
            found = along(tree, observations_of(source, tree, self.env, self.features))
        if not self.json:
            parts = f"least {found.least:.6g}, a tenth below {found.tenth:.6g}"
            print(f"radius at {found.observations:,} observations: {parts}, ", end="")
            print(f"half below {found.median:.6g}")
            print(f"least at {', '.join(map(repr, found.where))}")
        return found.to_dict()

    def _show_domain(self, tree: "CrispTree", text: str) -> dict[str, Any]:
        from crisptree.base.text import aligned
        from crisptree.verify.robustness import coverage, domain_of, held

        found = coverage(tree, domain_of(text, tree))
        if not self.json:
            rows = [["leaf", "action", "share of the domain"]]
            for leaf, share in found.shares.items():
                told = "never" if leaf in found.unmet else f"{100 * share:.3g} %"
                rows.append([str(leaf), held(tree, leaf), told])
            print(aligned(rows))
        return {"shares": {str(k): v for k, v in found.shares.items()}, "unmet": list(found.unmet)}

    def _write_vectors(self, tree: "CrispTree", path: Path) -> dict[str, Any]:
        import numpy as np

        from crisptree.base.files import write_atomically
        from crisptree.export.vectors import as_csv, shown_by, vectors

        made = vectors(tree, {64: np.float64, 32: np.float32}[self.floats])
        write_atomically(path, as_csv(tree, made))
        shown = shown_by(tree, made)
        if not self.json:
            print(f"{shown.in_words}; {len(made)} vectors in {path}")
        return {"file": str(path), "shown": list(shown.shown), "not_shown": list(shown.not_shown)}


def told(answer: "Answer", tree: "CrispTree") -> str:
    """The answer in a few lines."""
    from crisptree.base.text import printable

    regions = answer.details.get("regions")
    verdict = answer.verdict.upper() if regions is None else "REGIONS"
    lines = [f"{verdict:9} {printable(answer.property)}", f"{'':9} {printable(answer.why)}"]
    for region in regions or ():
        lines.append(f"{'':11} {' and '.join(map(_interval, region)) or 'everywhere'}")
    if regions is None and answer.observation is not None:
        names = map(printable, answer.details.get("states", tree.feature_names[: tree.n_features]))
        shown = zip(names, answer.observation, strict=True)
        lines += [f"{'':11} {name} = {value!r}" for name, value in shown]
    return "\n".join(lines)


def where(fact: "LeafFact", tree: "CrispTree") -> str:
    """The observations that reach a leaf."""
    bounds = [
        {
            "feature": tree.feature_names[each.feature],
            "above": None if each.above == -math.inf else each.above,
            "at_most": None if each.at_most == math.inf else each.at_most,
        }
        for each in fact.where
    ]
    return " and ".join(map(_interval, bounds)) or "everywhere"


def _interval(bound: dict) -> str:
    from crisptree.base.text import printable

    above = "" if bound["above"] is None else f"{bound['above']!r} < "
    at_most = "" if bound["at_most"] is None else f" ≤ {bound['at_most']!r}"
    return f"{above}{printable(bound['feature'])}{at_most}"
