"""From a command to a solved CartPole, in seconds: a crisp tree of 500 beside an MLP of 475.

Fresh processes, imports and compiling included. Ours is `crisptree train CartPole-v1` as it is,
with an empty cache of compiled programs and then with the cache that run has left; it scores the
crisp tree on 100 unseen episodes within the time. The peer is Stable-Baselines3's PPO with RL
Zoo's settings, asked every 2,048 steps and stopped as soon as 100 greedy episodes average 475; its
evaluations are not counted. Ours are: the note says what the ratio is if the peer's last one, which
shows the 475, counts as well.

python benchmarks/solve.py [--quick]
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SEEDS = 11
"""By seed Stable-Baselines3 learns for 4 to 14 s: of five the median may be anything in between."""

PEER = """
import sys, time
began = time.perf_counter()
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from contestants import ZOO
torch.set_num_threads(1)
seed, spent = int(sys.argv[1]), 0.0
envs, judge = make_vec_env("CartPole-v1", 8, seed=seed), make_vec_env("CartPole-v1", 8, seed=10**6)
model = PPO("MlpPolicy", envs, seed=seed, device="cpu", **ZOO["CartPole-v1"])
while model.num_timesteps < 200_000:
    model.learn(2048, reset_num_timesteps=False)
    paused = time.perf_counter()
    score = evaluate_policy(model, judge, n_eval_episodes=100)[0]
    judged = time.perf_counter() - paused
    spent += judged
    if score >= 475:
        break
print(time.perf_counter() - began - spent, judged, model.num_timesteps, score)
"""


def ours(seed: int, cache: str) -> tuple[float, float]:
    """Seconds, and the return of the crisp tree."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "crisptree.cli", "train", "CartPole-v1"]
        began = time.perf_counter()
        done = subprocess.run(
            [*command, "--seed", str(seed), "--out", f"{folder}/run", "--json"],
            env={**os.environ, "XDG_CACHE_HOME": cache},
            capture_output=True,
            check=True,
        )
        return time.perf_counter() - began, json.loads(done.stdout)["crisp_return"]


def peer(seed: int) -> tuple[float, float]:
    """Seconds to 475, interpreter start included, and those of the evaluation that shows it."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PEER, str(seed)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - began
    inside, judged, steps, score = map(float, done.stdout.split())
    learned = min(whole - judged, inside + 0.1)
    print(
        f"  Stable-Baselines3, seed {seed}: {learned:.1f} s and {judged:.1f} s to see it, "
        f"{steps:.0f} steps, {score:.0f}"
    )
    return learned, judged


def rows(quick: bool = False) -> list[dict[str, Any]]:
    missing = importlib.util.find_spec("stable_baselines3") is None
    cold, warm, theirs, returns = [], [], [], []
    for seed in range(1 if quick else SEEDS):
        with tempfile.TemporaryDirectory() as cache:
            for seconds in (cold, warm):
                spent, score = ours(seed, cache)
                seconds.append(spent)
                returns.append(score)
        if not missing:
            theirs.append(peer(seed))
    found = []
    for name, seconds, bar in (("an empty cache", cold, ""), ("a warm cache", warm, "")):
        record: dict[str, Any] = {
            "name": f"crisptree train CartPole-v1, {name}, over Stable-Baselines3 to an MLP of 475",
            "unit": "s",
            "ours": round(statistics.median(seconds), 1),
            "peer": None,
            "ratio": None,
            "bar": bar,
            "note": f"crisp return {min(returns):.1f} at least",
        }
        if missing:
            record["note"] += "; peer is not there: pip install torch==2.13.0 'crisptree[sb3]'"
        else:
            # Seeds of two learners are no pairs: one may be lucky where the other is not.
            middle, learned = statistics.median(seconds), [learned for learned, _ in theirs]
            ratios = [a / b for a, b in zip(seconds, learned, strict=True)]
            shown = statistics.median(sum(each) for each in theirs)
            record["note"] += f"; {middle / shown:.3f} with the peer's last evaluation"
            record |= {
                "peer": round(statistics.median(learned), 1),
                "ratio": round(middle / statistics.median(learned), 3),
                "spread": [round(min(ratios), 3), round(max(ratios), 3)],
            }
        found.append(record)
    return found


if __name__ == "__main__":
    for each in rows("--quick" in sys.argv):
        print(each)
