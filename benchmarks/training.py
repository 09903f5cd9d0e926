"""Steps a second with learning on CartPole: ours beside the peers and beside the limit.

python benchmarks/training.py [--quick]
"""

import sys
from typing import Any

from contest import Entry, compete, row

OURS = "CartPole, PPO on a soft tree of 8 leaves"


def rows(quick: bool = False) -> list[dict[str, Any]]:
    rounds, updates = (3, 8) if quick else (9, 32)
    tree = {"updates": updates}
    figures = compete(
        {
            "ours": Entry("tree-cartpole", tree),
            "sb3": Entry("ppo", {"package": "sb3"}),
            "sbx": Entry("ppo", {"package": "sbx"}),
            "mlp": Entry("mlp-cartpole"),
            "mlp at our settings": Entry("mlp-cartpole", {"same_settings": True}),
            "bare": Entry("bare-cartpole"),
        },
        rounds,
    )
    others = compete(
        {
            "8 seeds": Entry("tree-cartpole", tree | {"seeds": 8}),
            "1 seed": Entry("tree-cartpole", tree),
            "32 leaves": Entry("tree-cartpole", tree | {"leaves": 32}),
            "4 leaves": Entry("tree-cartpole", tree | {"leaves": 4}),
        },
        max(3, rounds // 2),
    )
    ours = figures["ours"]
    seeds = row(
        "time of 8 seeds at once over that of one seed",
        others["1 seed"],
        others["8 seeds"],
        "≤ 4.5",
    )
    if seeds["ratio"] is not None:  # rates count all seeds' steps; the bar is on time
        seeds["ratio"] = round(8 * seeds["ratio"], 2)
        seeds["spread"] = [round(8 * end, 2) for end in seeds["spread"]]
    return [
        row(f"{OURS}, over Stable-Baselines3's PPO on an MLP", ours, figures["sb3"], "≥ 100"),
        row(f"{OURS}, over sbx's PPO on an MLP", ours, figures["sbx"], ""),
        row(f"{OURS}, over plain JAX on an MLP, its settings", ours, figures["mlp"], "≥ 3"),
        row(
            f"{OURS}, over plain JAX on an MLP, our settings",
            ours,
            figures["mlp at our settings"],
            "≥ 2.5",
        ),
        row(f"{OURS}, over the environment alone", ours, figures["bare"], "≥ 0.1"),
        seeds,
        row(
            "a soft tree of 32 leaves over one of 4",
            others["32 leaves"],
            others["4 leaves"],
            "≥ 0.4",
        ),
    ]


if __name__ == "__main__":
    for each in rows("--quick" in sys.argv):
        print(each)
