"""The four domains of §6 and any environment of one's own, by name."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    name: str
    """What the command line and the files call it."""
    env: str
    """The Gymnasium id."""
    title: str
    """What people call it."""
    note: str = ""
    """What a reader must know before comparing with the paper."""


CARTPOLE = Domain("cartpole", "CartPole-v1", "Cart pole")
LUNARLANDER = Domain(
    "lunarlander", "LunarLander-v3", "Lunar lander", "the paper used LunarLander-v2"
)
WILDFIRE = Domain(
    "wildfire",
    "crisptree/Wildfire-v0",
    "Wildfire tracking",
    "our own simulator, calibrated on the paper's text: its code was never released",
)
ZERGLINGS = Domain(
    "zerglings",
    "crisptree/Zerglings-v0",
    "Find and defeat zerglings",
    "our own simulator of the mini-game, not StarCraft II itself",
)
DOMAINS = {domain.name: domain for domain in (CARTPOLE, LUNARLANDER, WILDFIRE, ZERGLINGS)}


def domain_of(env: str) -> Domain:
    """The paper's domain played in `env`, or one named after it."""
    for domain in DOMAINS.values():
        if domain.env == env:
            return domain
    return Domain(slug(env), env, env)


def slug(env: str) -> str:
    """An id as part of a file name."""
    return "".join(c if c.isalnum() or c in "-._" else "-" for c in env).strip("-.").lower()
