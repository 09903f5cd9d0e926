"""Does a change of the learner's arithmetic change what is learned? Twenty seeds before and after.

    python benchmarks/equivalence.py before.json    with the code as it was
    python benchmarks/equivalence.py after.json     with the code as it is
    python benchmarks/equivalence.py --compare before.json after.json

Where sums are taken in another order the same seed no longer gives the same bytes. Then the
returns of twenty seeds must be alike: the script trains a soft tree of 8 leaves on CartPole, all
seeds at once, and compares the mean return early and late by Welch's test.
"""

import argparse
import json
from pathlib import Path

import numpy as np

SEEDS, STEPS = 20, 500_000


def trained() -> dict[str, list[float]]:
    """Mean return of every seed in the second quarter and in the last quarter of the training."""
    import jax
    from contestants import cartpole_config

    from crisptree import soft
    from crisptree.envs.cartpole import CartPole
    from crisptree.learn import ppo
    from crisptree.learn.stacks import stack
    from crisptree.learn.trainer import Trainer

    config = cartpole_config()
    n_updates = STEPS // config.steps_per_update

    def fresh(seed: int):
        for_tree, for_learner = jax.random.split(jax.random.key(seed))
        tree = soft.SoftTree.random(soft.balanced(8), 4, 2, key=for_tree)
        return ppo.init(tree, 4, config, n_updates, key=for_learner)

    states = stack([fresh(seed) for seed in range(SEEDS)])
    with Trainer(None, config, SEEDS, env=CartPole()) as trainer:
        returns = np.concatenate([at.metrics["return"] for at in trainer.learn(states)])
    quarter = len(returns) // 4
    parts = {"early": returns[quarter : 2 * quarter], "late": returns[3 * quarter :]}
    return {name: np.nanmean(part, axis=0).tolist() for name, part in parts.items()}


def compare(before: Path, after: Path) -> None:
    from scipy.stats import ttest_ind

    one, other = (json.loads(path.read_text()) for path in (before, after))
    for name in one:
        a, b = np.array(one[name]), np.array(other[name])
        p = float(ttest_ind(a, b, equal_var=False).pvalue)
        print(
            f"{name}: {a.mean():.1f} ± {a.std(ddof=1) / len(a) ** 0.5:.1f} before, "
            f"{b.mean():.1f} ± {b.std(ddof=1) / len(b) ** 0.5:.1f} after, Welch p = {p:.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Twenty seeds before and after a change.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--compare", action="store_true")
    chosen = parser.parse_args()
    if chosen.compare:
        compare(*chosen.files)
    else:
        chosen.files[0].write_text(json.dumps(trained()) + "\n")


if __name__ == "__main__":
    main()
