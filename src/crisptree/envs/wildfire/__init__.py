"""Wildfire tracking (§6.2 of the paper): what a drone sees and does, in the paper's order
(Appendix F); the environment is in `env`. No JAX here."""

FEATURE_NAMES = (
    "fire 1 distance north",
    "fire 1 distance west",
    "closest to fire 1",
    "fire 2 distance north",
    "fire 2 distance west",
    "closest to fire 2",
)
ACTION_NAMES = ("north", "east", "south", "west", "nothing")
