"""Steps a second with learning on LunarLander: with envpool, without it, and the peers.

python benchmarks/lander.py [--quick]
"""

import sys
from typing import Any

from contest import Entry, compete, row

OURS = "LunarLander, PPO on a tree of 32 leaves"
MANY = 64
"""Environments that show the speed of the loop; the default, 16, needs fewer steps to learn."""


def rows(quick: bool = False) -> list[dict[str, Any]]:
    lander = {"env_id": "LunarLander-v3"}
    updates = {"updates": 1 if quick else 6}
    figures = compete(
        {
            "fast": Entry("tree-lander", {"fast": True, "n_envs": MANY, **updates}),
            "default": Entry("tree-lander", {"fast": True, **updates}),
            "slow": Entry("tree-lander", {"fast": False, "n_envs": MANY, **updates}),
            "sb3": Entry("ppo", {"package": "sb3", **lander}),
            "sbx": Entry("ppo", {"package": "sbx", **lander}),
            "envpool": Entry("bare-envpool"),
        },
        3 if quick else 5,
    )
    fast, slow, default = figures["fast"], figures["slow"], figures["default"]
    return [
        row(f"{OURS}, envpool, over Stable-Baselines3", fast, figures["sb3"], "≥ 12"),
        row(
            f"{OURS}, envpool, 16 environments, over Stable-Baselines3", default, figures["sb3"], ""
        ),
        row(f"{OURS}, envpool, over sbx", fast, figures["sbx"], ""),
        row(f"{OURS}, envpool, over envpool alone", fast, figures["envpool"], "≥ 0.6"),
        row(f"{OURS}, gymnasium, over Stable-Baselines3", slow, figures["sb3"], "≥ 3"),
    ]


if __name__ == "__main__":
    for each in rows("--quick" in sys.argv):
        print(each)
