"""How crisp policies come about: from scratch, or by watching a soft tree or an MLP first."""

from typing import Literal

from crisptree.envs.registry import is_functional

Route = Literal["direct", "soft", "mlp"]
WORDS: dict[Route, str] = {
    "direct": "from scratch",
    "soft": "by a soft teacher",
    "mlp": "by an MLP teacher",
}
SERVES: dict[str, Route] = {
    "crisptree/Wildfire-v0": "soft",
    "crisptree/Zerglings-v0": "soft",
}
"""Where another route than that of `crisptree train` serves better (docs/domains.md)."""


def route_for(env: str) -> Route:
    """What serves the environment, or what `crisptree train` would do unasked."""
    return SERVES.get(env, "direct" if is_functional(env) else "mlp")
