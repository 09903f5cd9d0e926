"""Which extra brings a package that is missing.

`pip install crisptree` runs, shows and exports policies. Everything else is an extra.
"""

from collections.abc import Mapping
from types import MappingProxyType

EXTRA_OF: Mapping[str, str] = MappingProxyType(
    {
        "gymnasium": "evaluate",
        "Box2D": "train",
        "cloudpickle": "train",
        "equinox": "train",
        "jax": "train",
        "jaxlib": "train",
        "jaxtyping": "train",
        "optax": "train",
        "pygame": "train",
        "rich": "train",
        "scipy": "train",
        "sklearn": "train",
        "envpool": "fast",
        "pettingzoo": "marl",
        "onnx": "onnx",
        "onnxruntime": "onnx",
        "cairosvg": "pictures",
        "matplotlib": "plot",
        "stable_baselines3": "sb3",
        "sc2": "sc2",
        "tensorboardX": "track",
        "lark": "verify",
        "z3": "verify",
        "fsspec": "experiments",
        "gymnax": "gymnax",
        "highway_env": "zoo",
        "minigrid": "zoo",
        "ray": "ray",
        "fastapi": "study",
        "jinja2": "study",
        "pyarrow": "study",
        "pydantic": "study",
        "sqlalchemy": "study",
        "uvicorn": "study",
        "psycopg": "pg",
    }
)
"""Names as they are imported, and the extras of pyproject.toml that bring them."""


EXTRA_OF_NAME: Mapping[str, str] = MappingProxyType(
    {
        "TreePolicy": "train",
        "analyze": "train",
        "distill": "train",
        "reproduce": "experiments",
        "study": "study",
        "sweep": "experiments",
        "train": "train",
        "verify": "verify",
        "zoo": "zoo",
    }
)
"""The extras that bring all that a command or a name of the library needs."""


def missing_extra(error: ImportError, what: str) -> str | None:
    """One line that says which extra `what` needs, or None where no extra would help.

    `what` is what was asked for: `crisptree study`, `crisptree.train`.
    """
    package = (error.name or "").partition(".")[0]
    extra = EXTRA_OF.get(package)
    if extra is None:
        return None
    if extra in ("evaluate", "plot", "train"):
        extra = EXTRA_OF_NAME.get(what.removeprefix("crisptree")[1:], extra)
    return f"{what} needs the package {package}: pip install 'crisptree[{extra}]'"
