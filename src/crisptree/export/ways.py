"""Every way out by its name: what its files hold, and who decides when they are checked."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.crisp import CrispTree
from crisptree.export import onnx_model, programs, python_function, sklearn_classifier
from crisptree.export.c_code import as_c
from crisptree.export.check import check
from crisptree.export.javascript_module import as_javascript
from crisptree.export.programs import Decider
from crisptree.export.states import RANDOM_STATES


class Way(NamedTuple):
    """`made` turns a tree and a name into what is exported, `files` that into suffixes and
    contents, `decider` into a function of observations of each of `dtypes`."""

    made: Callable[[CrispTree, str], Any]
    files: Callable[[Any], Mapping[str, str | bytes]]
    decider: Callable[[Any], Decider]
    dtypes: tuple[Any, ...]


BOTH = (np.float64, np.float32)

WAYS: Mapping[str, Way] = {
    "python": Way(
        lambda tree, name: python_function.as_python(tree),
        lambda made: {"": made},
        python_function.decider,
        BOTH,
    ),
    "c": Way(
        lambda tree, name: as_c(tree, name),
        lambda made: {".c": made.source, ".h": made.header},
        programs.compiled,
        BOTH,
    ),
    "javascript": Way(
        lambda tree, name: as_javascript(tree), lambda made: {"": made}, programs.in_node, BOTH
    ),
    "onnx": Way(
        lambda tree, name: onnx_model.as_onnx(tree),
        lambda made: {"": made},
        onnx_model.decider,
        (np.float32,),
    ),
    "sklearn": Way(
        lambda tree, name: sklearn_classifier.as_joblib(tree),
        lambda made: {"": made},
        sklearn_classifier.decider,
        (np.float32,),
    ),
}


class Written(NamedTuple):
    """The files that were written and on how many observations they were checked."""

    files: tuple[Path, ...]
    states: int


def export(
    tree: CrispTree, to: str, out: str | PathLike[str], *, count: int = RANDOM_STATES
) -> Written:
    """Write `tree` as `to` says, once it decided like the tree on `count` random observations of
    each precision it takes and on those beside each threshold; 0 checks nothing."""
    if to not in WAYS:
        raise CrisptreeError(f"there is no export '{to}'; there are {', '.join(WAYS)}")
    way, path = WAYS[to], Path(out)
    made = way.made(tree, path.stem)
    checked = 0
    if count:
        decide = way.decider(made)
        checked = sum(check(tree, decide, dtype, count) for dtype in way.dtypes)
    contents = {
        path if not suffix else path.with_suffix(suffix): content
        for suffix, content in way.files(made).items()
    }
    for file, content in contents.items():
        write_atomically(file, content)
    return Written(tuple(contents), checked)
