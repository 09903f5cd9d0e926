"""Policy gradient and Q-learning on the chain of §5, from many first thresholds: who gets there?

python examples/q_on_the_chain.py            # the paper's chain
python examples/q_on_the_chain.py 20 7 5     # n, i*, α
"""

import sys

import numpy as np

from crisptree.analysis.experience import ends, methods
from crisptree.analysis.learning import MOVED, first_phis, is_optimal
from crisptree.analysis.setting import PAPER, Setting
from crisptree.learn.cache import keep_compiled

STEPS = 160_000


def main(words: list[str]) -> None:
    keep_compiled()
    setting = PAPER
    if words:
        n, istar, alpha = int(words[0]), int(words[1]), float(words[2])
        setting = Setting(n=n, istar=istar, alpha=alpha, horizon=n)
    first = first_phis(setting)
    print(
        f"{len(first)} first φ from {first[0]:g} to {first[-1]:g}, {STEPS} steps each; "
        f"{is_optimal(setting, first).mean():.0%} of them are optimal before learning\n"
    )
    print("| learner | terminal states | φ alone: optimal | of them moved there | all learns |")
    print("|---|---|---|---|---|")
    for method in methods(setting.gamma):
        alone = ends(setting, method, first, STEPS, alone=True)
        whole = ends(setting, method, first, STEPS, alone=False)
        came = (alone.optimal & (np.abs(alone.last - first) >= MOVED)).mean()
        print(
            f"| {method.name} | {method.handling} | {alone.optimal.mean():.0%} | {came:.0%} "
            f"| {whole.optimal.mean():.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
