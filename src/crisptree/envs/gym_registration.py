"""crisptree's own ids in gymnasium's registry. Importing this registers them and loads no JAX.

`task_of` imports it for ids that begin with `crisptree/`. Elsewhere, import it first or name it in
the id: `gymnasium.make("crisptree.envs.gym_registration:crisptree/Wildfire-v0")`. Gymnasium has
had no plugin entry points since its version 1.0, so that nothing else can do this.
"""

import gymnasium as gym

WILDFIRE = "crisptree/Wildfire-v0"
ZERGLINGS = "crisptree/Zerglings-v0"
STARCRAFT = "crisptree/StarCraftZerglings-v0"

for env_id, maker in ((WILDFIRE, "wildfire"), (ZERGLINGS, "zerglings")):
    gym.register(
        env_id,
        entry_point=f"crisptree.envs.joint:{maker}",
        vector_entry_point=f"crisptree.envs.joint_vector:{maker}",
    )
gym.register(
    STARCRAFT, entry_point="crisptree.envs.sc2.env:StarCraftZerglings", nondeterministic=True
)
