"""Decision-tree policies trained online by gradient, handed over as trees a person can read.

    import crisptree

    trained = crisptree.train("CartPole-v1", leaves=4, seed=0, out="runs/mine")
    print(crisptree.as_text(trained.tree))
    print(crisptree.evaluate(trained.tree, episodes=100))

Names are imported when they are first used: a shipped policy needs no JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crisptree.api import train as train
    from crisptree.base.errors import CrisptreeError as CrisptreeError
    from crisptree.crisp import CrispTree as CrispTree
    from crisptree.envs.evaluate import evaluate as evaluate
    from crisptree.show import as_html as as_html
    from crisptree.show import as_rules as as_rules
    from crisptree.show import as_svg as as_svg
    from crisptree.show import as_text as as_text
    from crisptree.tree_policy import TreePolicy as TreePolicy

    __version__: str

_PUBLIC = {
    "CrispTree": "crisptree.crisp",
    "CrisptreeError": "crisptree.base.errors",
    "TreePolicy": "crisptree.tree_policy",
    "as_html": "crisptree.show",
    "as_rules": "crisptree.show",
    "as_svg": "crisptree.show",
    "as_text": "crisptree.show",
    "evaluate": "crisptree.envs.evaluate",
    "train": "crisptree.api",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from crisptree.base.version import crisptree_version

        value = crisptree_version()
    elif name in _PUBLIC:
        value = _imported(name)
    else:
        raise AttributeError(f"crisptree has no '{name}'; it has {', '.join(sorted(_PUBLIC))}")
    globals()[name] = value
    return value


def _imported(name: str) -> Any:
    try:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    except ImportError as error:
        from crisptree.base.extras import missing_extra

        message = missing_extra(error, f"crisptree.{name}")
        if message is None:
            raise
        raise ImportError(message, name=error.name) from None


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, "__version__"])
