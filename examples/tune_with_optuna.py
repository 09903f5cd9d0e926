"""Let Optuna choose settings: the discount, the entropy bonus and the size of the tree.

pip install optuna
python examples/tune_with_optuna.py CartPole-v1 --trials 20 --steps 100000

A trial is a whole training. It is worth what its tree earns in the selection episodes, less a
little for every leaf; the reporting episodes are kept for the winner. Trials that fall behind are
stopped early: the callback tells Optuna the return while the training runs.
"""

import argparse
from pathlib import Path
from typing import Any

import optuna

import crisptree

PRICE = 1.0
"""Of a leaf, in units of return."""


def tune(
    env: str,
    trials: int,
    out: Path,
    *,
    steps: int | None = None,
    config: Any = None,
) -> tuple[optuna.Study, crisptree.TreePolicy]:
    """The study, and the best policy that it found."""

    def objective(trial: optuna.Trial) -> float:
        model = crisptree.TreePolicy(
            env,
            leaves=trial.suggest_int("leaves", 2, 16, log=True),
            direct=True,
            overrides={
                "ppo.gamma": 1 - trial.suggest_float("1 - gamma", 0.001, 0.1, log=True),
                "ppo.entropy_coef": trial.suggest_float("entropy", 1e-4, 0.05, log=True),
            },
            config=config,
        )

        def report(row: dict[str, Any]) -> None:
            if row.get("return") is not None:
                trial.report(row["return"], row["total_step"])
            if trial.should_prune():
                raise optuna.TrialPruned

        folder = out / f"trial-{trial.number}"
        model.learn(steps, callback=report, progress_bar=False, out=folder)
        assert model.trained is not None
        trial.set_user_attr("path", str(folder))
        return model.trained.summary["selection_return"] - PRICE * model.tree.n_leaves

    pruner = optuna.pruners.MedianPruner(n_startup_trials=4)
    sampler = optuna.samplers.TPESampler(seed=0)
    study = optuna.create_study(direction="maximize", pruner=pruner, sampler=sampler)
    study.optimize(objective, n_trials=trials)
    return study, crisptree.TreePolicy.load(study.best_trial.user_attrs["path"], env)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("env")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100_000, help="environment steps of a trial")
    parser.add_argument("--out", type=Path, default=Path("runs/optuna"))
    given = parser.parse_args()
    study, best = tune(given.env, given.trials, given.out, steps=given.steps)
    print(study.best_params)
    print(crisptree.as_rules(best.tree))
    print(best.evaluate(episodes=100))


if __name__ == "__main__":
    main()
