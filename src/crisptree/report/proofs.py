"""The verifier's answers as the page shows them: the only place here that knows its interface."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.report.review import Comparison, Finding, Verdict
from crisptree.show.wording import Wording

WORDS: dict[str, Verdict] = {"holds": "proved", "fails": "refuted", "undecided": "undecided"}


def asked(tree: CrispTree, questions: Sequence[str], seconds: float) -> tuple[Finding, ...]:
    """Every property with its answer; counterexamples are tried again in the tree itself."""
    from crisptree.verify import verify

    return tuple(
        finding(tree, verify(tree, question, seconds=seconds).to_dict()) for question in questions
    )


def finding(tree: CrispTree, answer: dict[str, Any]) -> Finding:
    """An answer, with the way of its observation through the tree or the course of its episode."""
    regions = answer.get("regions")
    verdict = "regions" if regions is not None else WORDS[answer["verdict"]]
    shown = answer["observation"] if regions is None else None
    about = Finding(printable(answer["property"]), verdict, printable(answer["why"]))
    if regions is not None:
        words = tuple(" and ".join(map(_interval, region)) or "everywhere" for region in regions)
        return replace(about, regions=words)
    if shown is None:
        return about
    names = answer.get("states") if isinstance(answer.get("states"), list) else tree.feature_names
    values = tuple(zip(map(printable, names or ()), shown, strict=True))
    if "step" in answer:  # an episode that begins with this state
        return replace(about, values=values, course=_course(tree, shown, answer["step"]))
    way, action = _way(tree, np.array(shown))
    return replace(about, values=values, way=way, action=action)


def _way(tree: CrispTree, observation: NDArray) -> tuple[tuple[Comparison, ...], str]:
    wording = Wording(tree, None, minus="−")
    *inner, leaf = tree.decision_path(observation)
    way = tuple(
        Comparison(
            wording.question(node),
            float(observation[tree.feature[node]]),
            bool(observation[tree.feature[node]] > tree.threshold[node]),
        )
        for node in inner
    )
    return way, wording.actions.of(leaf)


def _course(tree: CrispTree, start: Sequence[float], steps: int) -> NDArray[np.float64]:
    """The episode from this state on, in the environment itself."""
    from crisptree.verify import cartpole

    return cartpole.replay(tree, np.array(start), steps)


def _interval(bound: dict[str, Any]) -> str:
    above = "" if bound["above"] is None else f"{bound['above']!r} < "
    at_most = "" if bound["at_most"] is None else f" ≤ {bound['at_most']!r}"
    return f"{above}{printable(bound['feature'])}{at_most}"
