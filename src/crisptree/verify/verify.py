"""From a property's text to its answer."""

from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify.answer import Answer
from crisptree.verify.language import parse
from crisptree.verify.properties import Stays

SECONDS = 60.0
MOST_CONDITIONS = 50_000


def verify(
    tree: CrispTree, question: str, *, dtype: Any = np.float64, seconds: float = SECONDS
) -> Answer:
    """Whether the property `question` (see `language.py`) holds of `tree`.

    Observations are all finite floats of `dtype`; `seconds` is how long to try before the answer is
    `undecided`.
    """
    asked = parse(question, tree)
    if isinstance(asked, Stays):
        from crisptree.verify.closed_loop import stays

        return stays(tree, asked, question, seconds=seconds)
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
    return Asker(tree, Search(tree.n_features, dtype, seconds)).ask(asked, question)
