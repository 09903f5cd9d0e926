"""What the paper reports: Table 1 and the sizes of its best agents (Appendix E)."""

from typing import NamedTuple


class Reported(NamedTuple):
    mean: float
    spread: float
    """The ± of Table 1; the paper does not say of what."""


ROWS: dict[str, str] = {
    "soft-tree": "DDT Balanced Tree",
    "soft-list": "DDT Rule List",
    "mlp": "MLP",
    "crisp-tree": "Discretized DDT",
    "crisp-list": "Discretized Rule List",
    "state-action-dt": "State-Action DT",
}
"""The paper's names of its rows."""

TABLE_1: dict[tuple[str, str], Reported] = {
    ("soft-tree", "cartpole"): Reported(500.0, 0.0),
    ("soft-tree", "lunarlander"): Reported(97.9, 10.5),
    ("soft-tree", "wildfire"): Reported(-32.0, 3.8),
    ("soft-tree", "zerglings"): Reported(6.6, 1.1),
    ("soft-list", "cartpole"): Reported(500.0, 0.0),
    ("soft-list", "lunarlander"): Reported(84.5, 13.6),
    ("soft-list", "wildfire"): Reported(-32.3, 4.8),
    ("soft-list", "zerglings"): Reported(11.3, 1.4),
    ("mlp", "cartpole"): Reported(500.0, 0.0),
    ("mlp", "lunarlander"): Reported(87.7, 21.3),
    ("mlp", "wildfire"): Reported(-86.7, 9.0),
    ("mlp", "zerglings"): Reported(6.6, 1.2),
    ("crisp-tree", "cartpole"): Reported(499.5, 0.8),
    ("crisp-tree", "lunarlander"): Reported(-88.0, 20.4),
    ("crisp-tree", "wildfire"): Reported(-36.4, 2.6),
    ("crisp-tree", "zerglings"): Reported(4.2, 1.6),
    ("crisp-list", "cartpole"): Reported(414.4, 63.9),
    ("crisp-list", "lunarlander"): Reported(-78.4, 32.2),
    ("crisp-list", "wildfire"): Reported(-39.8, 1.8),
    ("crisp-list", "zerglings"): Reported(0.7, 1.3),
    ("state-action-dt", "cartpole"): Reported(66.3, 18.5),
    ("state-action-dt", "lunarlander"): Reported(-280.9, 60.6),
    ("state-action-dt", "wildfire"): Reported(-67.9, 7.9),
    ("state-action-dt", "zerglings"): Reported(-3.0, 0.0),
}

BEST_SIZES: dict[tuple[str, str], int] = {
    ("soft-tree", "cartpole"): 2,
    ("soft-list", "cartpole"): 2,
    ("mlp", "cartpole"): 0,
    ("soft-tree", "lunarlander"): 32,
    ("soft-list", "lunarlander"): 16,
    ("mlp", "lunarlander"): 0,
    ("soft-tree", "wildfire"): 32,
    ("soft-list", "wildfire"): 32,
    ("mlp", "wildfire"): 8,
    ("soft-tree", "zerglings"): 8,
    ("soft-list", "zerglings"): 8,
    ("mlp", "zerglings"): 8,
}

LEAVES = (2, 4, 8, 16, 32)
RULES = (1, 2, 4, 8, 16, 32)
HIDDEN_LAYERS = (0, 1, 2, 4, 8, 16, 32)
"""The architecture sweep of §6."""
