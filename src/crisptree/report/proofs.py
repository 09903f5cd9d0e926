"""The verifier's answers as the page shows them: the only place here that knows its interface."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.report.review import Comparison, Finding, Verdict
from crisptree.show.wording import Wording

if TYPE_CHECKING:
    from crisptree.verify import Plant

WORDS: dict[str, Verdict] = {"holds": "proved", "fails": "refuted", "undecided": "undecided"}


def asked(
    tree: CrispTree, questions: Sequence[str], seconds: float, plant: str | None
) -> tuple[Finding, ...]:
    """Every property with its answer; counterexamples are tried again."""
    if not questions:  # the verifier is an extra
        return ()
    from crisptree.verify import verify

    system = _plant(tree, plant)
    answers = (verify(tree, each, seconds=seconds, plant=system) for each in questions)
    return tuple(finding(tree, answer.to_dict(), system) for answer in answers)


def certified(tree: CrispTree, paths: Sequence[Path], plant: str | None) -> tuple[Finding, ...]:
    """The claims of certificates, each checked again by the independent checker."""
    if not paths:
        return ()
    from crisptree.verify import certificate
    from crisptree.verify.closed_loop import leaves_in_words
    from crisptree.verify.plants import plant_named
    from crisptree.verify.recheck import recheck

    found = []
    for path in paths:
        content = certificate.read(path)
        verdict = recheck(content, tree, None if plant is None else plant_named(plant))
        why = f"{verdict.reason}, {verdict.boxes:,} boxes" if verdict.holds else verdict.reason
        if verdict.unreached:
            why += f"; {leaves_in_words(verdict.unreached)} never reached"
        question = printable(str(content.get("property")))[:1_000]
        name: Verdict = "proved" if verdict.holds else "rejected"
        found.append(Finding(question, name, printable(why), source=path.name))
    return tuple(found)


def _plant(tree: CrispTree, name: str | None) -> "Plant | None":
    from crisptree.verify.plants import plant_named, plant_of

    return plant_of(tree.env_id) if name is None else plant_named(name)


def finding(tree: CrispTree, answer: dict[str, Any], plant: "Plant | None" = None) -> Finding:
    """An answer, with the path of its observation through the tree or its episode."""
    regions = answer.get("regions")
    verdict = "regions" if regions is not None else WORDS[answer["verdict"]]
    shown = answer["observation"] if regions is None else None
    about = Finding(printable(answer["property"]), verdict, printable(answer["why"]))
    if regions is not None:
        words = tuple(" and ".join(map(_interval, region)) or "everywhere" for region in regions)
        return replace(about, regions=words)
    if shown is None:
        return about
    names = answer.get("states")
    if not isinstance(names, list):
        names = list(tree.feature_names[: tree.n_features])
    values = tuple(zip(map(printable, names or ()), shown, strict=True))
    if "step" in answer:  # an episode that begins with this state
        return replace(about, values=values, course=_course(tree, answer, plant))
    way, action = _way(tree, np.array(shown))
    return replace(about, values=values, way=way, action=action)


def _way(tree: CrispTree, observation: NDArray) -> tuple[tuple[Comparison, ...], str]:
    wording = Wording(tree, None, minus="−")
    *inner, leaf = tree.decision_path(observation)
    seen = tree.columns(observation)
    way = tuple(
        Comparison(
            wording.question(node),
            float(seen[tree.feature[node]]),
            bool(seen[tree.feature[node]] > tree.threshold[node]),
        )
        for node in inner
    )
    return way, wording.actions.of(leaf)


def _course(
    tree: CrispTree, answer: dict[str, Any], plant: "Plant | None"
) -> NDArray[np.float64] | None:
    """The episode from this state on, in the environment or else in the plant; None if it does not
    end as the verifier says, because noise or a delay played a part."""
    from crisptree.verify.replay import episode

    if plant is None:
        return None
    start, steps = np.array(answer["observation"], np.float64), int(answer["step"])
    acting = np.array(answer.get("disturbance", np.empty((steps, 0))), np.float64)
    if plant.env_id is not None and not acting.size:
        states = episode(tree, plant, start, steps)
    elif acting.shape == (steps, len(plant.disturbance_box)):
        states = start[None]
        for now in acting:
            action = tree.act(plant.observations(states[-1:]))
            states = np.concatenate([states, plant.play(states[-1:], action, now[None])])
    else:
        return None
    return states if np.allclose(states[-1], answer["state"], rtol=1e-6, atol=1e-9) else None


def _interval(bound: dict[str, Any]) -> str:
    above = "" if bound["above"] is None else f"{bound['above']!r} < "
    at_most = "" if bound["at_most"] is None else f" ≤ {bound['at_most']!r}"
    return f"{above}{printable(bound['feature'])}{at_most}"
