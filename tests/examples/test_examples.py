"""The examples run: the notebook as it is, the search with trainings of a few updates."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small import small_config

import crisptree
from crisptree.pipeline.config import CandidateConfig, EnvConfig

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_optuna_chooses(tmp_path):
    optuna = pytest.importorskip("optuna")
    from tune_with_optuna import tune

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    config = replace(small_config(), env=EnvConfig(), candidates=CandidateConfig(count=1))
    study, best = tune("CartPole-v1", 2, tmp_path, config=config)
    assert len(study.trials) == 2 and study.best_trial.user_attrs["path"].startswith(str(tmp_path))
    assert best.tree.n_leaves <= study.best_params["leaves"]
    assert study.trials[0].intermediate_values


@pytest.mark.slow
def test_the_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("z3")
    notebook = nbformat.read(EXAMPLES / "first_tree.ipynb", as_version=4)
    run = client.NotebookClient(
        notebook, timeout=1_200, resources={"metadata": {"path": str(tmp_path)}}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own parts
        run.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("image/svg+xml" in output.get("data", {}) for output in shown)
    assert any("holds" in str(output.get("data", "")) for output in shown)
    assert "Review of a policy" in (tmp_path / "first-tree" / "report.html").read_text()


@pytest.mark.slow
def test_the_learners_on_cartpole_are_compared(tmp_path, capsys):
    from q_on_cartpole import RUNS, main

    for name in RUNS:
        settings: dict[str, Any] = {"leaves": 8, "paper": True} if "tree" in name else {"mlp": 2}
        settings["overrides"] = {"paper.algorithm": "q"} if "dqn" in name else {}
        out = tmp_path / name
        few: dict[str, Any] = {"seeds": 2, "steps": 4_000, "episodes": 2, "progress": False}
        crisptree.train("CartPole-v1", **settings, **few, out=out)
    main(tmp_path, tmp_path / "curves.svg")
    rows = capsys.readouterr().out.splitlines()
    assert (tmp_path / "curves.svg").exists() and len(rows) == 2 + len(RUNS)
    assert rows[2].count("%") == rows[3].count("%") == 2
