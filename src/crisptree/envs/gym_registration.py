"""crisptree's own ids in gymnasium's registry. Importing this registers them and loads no JAX.

`task_of` imports it for ids that begin with `crisptree/`. Elsewhere, import it first or name it in
the id: `gymnasium.make("crisptree.envs.gym_registration:crisptree/Wildfire-v0")`. Gymnasium has
had no plugin entry points since its version 1.0, so that nothing else can do this.
"""

from typing import Any

import gymnasium as gym

WILDFIRE = "crisptree/Wildfire-v0"
ZERGLINGS = "crisptree/Zerglings-v0"
STARCRAFT = "crisptree/StarCraftZerglings-v0"

SMALL_MDPS = {
    "FrozenLake4x4": "grids:frozen_lake_4x4",
    "FrozenLake8x8": "grids:frozen_lake_8x8",
    "FrozenLake12x12": "grids:frozen_lake_12x12",
    "Navigation3D": "grids:navigation_3d",
    "TigerAntelope": "grids:tiger_antelope",
    "Inventory": "services:inventory",
    "TrafficIntersection": "services:traffic_intersection",
    "SystemAdministrator1": "services:system_administrator_1",
    "SystemAdministrator2": "services:system_administrator_2",
    "SystemAdministratorTree": "services:system_administrator_tree",
    "SimpleBlackjack": "games:simple_blackjack",
    "Xor": "games:xor",
}
"""Small decision problems with known optima (see `mdps`)."""


def _register(env_id: str, entry_point: str, **options: Any) -> None:
    """Once: in a worker process the caller's ids are registered already."""
    if env_id not in gym.registry:
        gym.register(env_id, entry_point=entry_point, **options)


for env_id, maker in ((WILDFIRE, "wildfire"), (ZERGLINGS, "zerglings")):
    _register(
        env_id,
        f"crisptree.envs.joint:{maker}",
        vector_entry_point=f"crisptree.envs.joint_vector:{maker}",
    )
_register(STARCRAFT, "crisptree.envs.sc2.env:StarCraftZerglings", nondeterministic=True)
for name, maker in SMALL_MDPS.items():
    _register(f"crisptree/{name}-v0", f"crisptree.envs.mdps.{maker}", max_episode_steps=1000)
