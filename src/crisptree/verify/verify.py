"""From a property's text to its answer."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify import certificate
from crisptree.verify.answer import Answer
from crisptree.verify.checker import Verdict
from crisptree.verify.closed_loop import Effort, Proved, decide
from crisptree.verify.plants import Plant, plant_of
from crisptree.verify.properties import InTheLoop
from crisptree.verify.prove import Cells
from crisptree.verify.recheck import recheck

SECONDS = 60.0
MOST_CONDITIONS = 50_000


def verify(
    tree: CrispTree,
    question: str,
    *,
    dtype: Any = np.float64,
    seconds: float = SECONDS,
    plant: Plant | None = None,
    cells: Cells | None = None,
) -> Answer:
    """Whether the property `question` (see `language.py`) holds of `tree`.

    Observations are all finite floats of `dtype`; `seconds` is how long to try before the answer is
    `undecided`. `plant` is the system a closed loop is about, if not that of the tree's
    environment; `cells` says how finely to look at it.
    """
    return prove(tree, question, dtype=dtype, seconds=seconds, plant=plant, cells=cells).answer


def check(tree: CrispTree, properties: Sequence[str], **options: Any) -> list[Answer]:
    """The answers to several properties, in their order; options as for `verify`."""
    return [verify(tree, each, **options) for each in properties]


def check_certificate(
    path: str | PathLike[str],
    tree: CrispTree,
    plant: Plant | None = None,
    seconds: float = math.inf,
) -> Verdict:
    """Whether the certificate in a file proves its property about this policy, by the second
    checker. `.holds`, `.reason` and `.property` say what; `.is_undecided` that there was no time to
    check it all."""
    return recheck(certificate.read(path), tree, plant, seconds)


def prove(
    tree: CrispTree,
    question: str,
    *,
    dtype: Any = np.float64,
    seconds: float = SECONDS,
    plant: Plant | None = None,
    cells: Cells | None = None,
) -> Proved:
    """The same, with the certificate of a proof about the closed loop."""
    begun = time.monotonic()
    found = _proved(tree, question, dtype, begun + seconds, plant, cells)
    taken = time.monotonic() - begun
    return replace(found, answer=replace(found.answer, seconds=taken))


def _proved(
    tree: CrispTree,
    question: str,
    dtype: Any,
    deadline: float,
    plant: Plant | None,
    cells: Cells | None,
) -> Proved:
    plant = plant or plant_of(tree.env_id)
    from crisptree.verify.language import parse  # trainings do without its grammar

    asked = parse(question, tree, plant)
    if isinstance(asked, InTheLoop):
        if plant is None:
            raise CrisptreeError(
                f"the equations of '{tree.env_id}' are not known; --plant module:NAME gives them"
            )
        return decide(
            tree, plant, asked, question, Effort(deadline - time.monotonic(), cells or Cells())
        )
    conditions = sum(len(rule.conditions) for rule in tree.rules())
    if conditions > MOST_CONDITIONS:
        raise CrisptreeError(
            f"the rules of this policy have {conditions:,} conditions in all; questions are for "
            f"policies of at most {MOST_CONDITIONS:,}"
        )
    try:
        from crisptree.verify.search import Search
        from crisptree.verify.tree_questions import Asker
    except ImportError as error:
        raise CrisptreeError(
            f"questions about a tree need z3 ({error}); pip install 'crisptree[verify]' brings it"
        ) from None
    return Proved(Asker(tree, Search(tree.n_features, dtype, deadline)).ask(asked, question))
