"""FindAndDefeatZerglings (§6.3 of the paper): what a marine sees and does, in the paper's order
(Appendix F); the simulator is in `env`. No JAX here."""

N_TARGETS = 5
UNIT_FEATURES = ("x", "y", "health", "cooldown")
FEATURE_NAMES = (
    *(f"own {name}" for name in UNIT_FEATURES),
    *(f"ally {i} {name}" for i in (1, 2) for name in UNIT_FEATURES),
    *(
        f"enemy {i} {name}"
        for i in range(1, N_TARGETS + 1)
        for name in (*UNIT_FEATURES, "is not a zergling")
    ),
)
ACTION_NAMES = (
    "move north",
    "move east",
    "move west",
    "move south",
    "attack nearest",
    "attack second nearest",
    "attack third nearest",
    "attack second farthest",
    "attack farthest",
    "nothing",
)
