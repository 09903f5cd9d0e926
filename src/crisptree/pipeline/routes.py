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
    "crisptree/Zerglings-v0": "mlp",
}
"""Where another route than its kind's serves the environment better (docs/domains.md)."""


def route_for(env: str) -> Route:
    """What serves the environment, where nobody asks for another."""
    return SERVES.get(env, "direct" if is_functional(env) else "mlp")
