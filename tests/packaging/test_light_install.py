"""`pip install crisptree` without extras runs, shows and exports policies; `evaluate` scores them.

The packages of the extras are hidden from a fresh Python, as if they were not installed.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crisptree.base.extras import EXTRA_OF
from crisptree.commands.table import COMMANDS

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "policies" / "cartpole-tree-4.json"
HIDE = """
import importlib.abc, sys

class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def light(code: str, *extras: str) -> subprocess.CompletedProcess[str]:
    """Run code where only these extras are installed."""
    hidden = sorted(name for name, extra in EXTRA_OF.items() if extra not in extras)
    if "evaluate" in extras:
        hidden.remove("cloudpickle")  # Gymnasium brings it
    hide = f"HIDDEN = {hidden!r}\n{HIDE}"
    return subprocess.run([sys.executable, "-c", hide + code], capture_output=True, text=True)


def command(*words: object, extras: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    called = f"from crisptree.cli import main; main({[str(word) for word in words]!r})"
    return light(called, *extras)


def test_a_policy_predicts():
    done = light(
        f"from crisptree import CrispTree; tree = CrispTree.load({str(POLICY)!r})\n"
        "print(tree.predict([0.0, 0.1, 0.02, -0.3])[0])"
    )
    assert done.stdout.strip() in ("0", "1"), done.stderr


@pytest.mark.parametrize("kind", ["text", "rules", "svg", "dot", "mermaid", "markdown"])
def test_show(kind):
    done = command("show", POLICY, "--as", kind)
    assert done.returncode == 0 and "pole angle" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("extras", "said"),
    [
        ((), "No replay: playing an episode needs the package gymnasium"),
        (("evaluate",), "No pictures"),
    ],
)
def test_a_page_does_without_what_plays_and_draws_the_environment(extras, said, tmp_path):
    done = command("show", POLICY, "--out", tmp_path / "page.html", extras=extras)
    assert done.returncode == 0, done.stderr
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("kind", "suffix"), [("python", ".py"), ("c", ".c"), ("javascript", ".mjs"), ("st", ".st")]
)
def test_export(kind, suffix, tmp_path):
    done = command("export", POLICY, "--to", kind, "--out", tmp_path / f"policy{suffix}")
    assert done.returncode == 0, done.stderr


def test_report(tmp_path):
    out = tmp_path / "report.html"
    words = ("report", POLICY, "--episodes", 2, "--exports", "python,st", "--out", out)
    done = command(*words, extras=("evaluate",))
    assert done.returncode == 0 and "Structured Text" in out.read_text(), done.stderr


def test_evaluate():
    done = command("evaluate", POLICY, "--episodes", 2, "--json", extras=("evaluate",))
    assert json.loads(done.stdout)["mean"] == 500.0, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["evaluate", POLICY], "evaluate"),
        (["explain", POLICY], "evaluate"),
        (["report", POLICY], "evaluate"),
        (["train", "CartPole-v1"], "train"),
        (["distill", POLICY, "CartPole-v1"], "train"),
        (["analyze"], "train"),
        (["verify", POLICY, "--property", "increasing in pole angle"], "verify"),
        (["export", POLICY, "--to", "onnx", "--out", "policy.onnx"], "onnx"),
    ],
)
def test_what_needs_an_extra_says_so_in_one_line(words, extra, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = command(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'crisptree[{extra}]'" in done.stderr
    assert done.stderr.startswith("crisptree: ") and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "extra"), [("evaluate", "evaluate"), ("train", "train"), ("TreePolicy", "train")]
)
def test_python_names_the_extra_too(name, extra):
    done = light(f"import crisptree; crisptree.{name}")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: crisptree.{name} needs the package ")
    assert last.endswith(f": pip install 'crisptree[{extra}]'")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_help_is_there(name):
    done = command(name, "--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: crisptree"), done.stderr


@pytest.mark.parametrize("module", ["crisp", "show", "export"])
def test_reading_a_policy_imports_nothing_heavy(module):
    code = f"import crisptree.{module}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & set(EXTRA_OF)


@pytest.mark.parametrize("name", ["cartpole-tree-4", "lunarlander-tree-209"])
def test_predicting_takes_two_microseconds(name):
    code = f"""
import timeit, numpy as np, crisptree
policy = crisptree.CrispTree.load({str(ROOT / "policies" / name)!r} + ".json")
row = [0.01] * policy.n_features
for seen in (row, np.array(row, np.float32)):
    print(min(timeit.repeat(lambda: policy.predict(seen), number=200, repeat=1000)) / 200)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert max(map(float, done.stdout.split())) <= 2e-6


def test_importing_crisptree_takes_no_time():
    """Of processor time, which a busy machine leaves as it is."""
    code = "import time; t = time.process_time(); import crisptree; print(time.process_time() - t)"
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        for _ in range(5)
    ]
    assert min(seconds) <= 0.1


def test_training_needs_no_other_extra_than_its_own():
    others = [name for name, extra in EXTRA_OF.items() if extra not in ("evaluate", "train")]
    done = subprocess.run(
        [sys.executable, "-c", f"HIDDEN = {others!r}\n{HIDE}import crisptree.api, crisptree.cli"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
