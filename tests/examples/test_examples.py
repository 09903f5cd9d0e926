"""The examples run: the notebook as it is, the search with trainings of a few updates."""

import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from small import small_config

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
