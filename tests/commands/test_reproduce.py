"""`crisptree reproduce` as a user runs it, killed in the middle and started again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crisptree import cli

TINY = "--domains cartpole --models mlp state-action-dt random scripted --layers 0 --leaves 2"
TINY = [*TINY.split(), "--seeds", "2", "--steps", "1", "--episodes", "20"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Programs compiled quickly, and shared by the processes of this test."""
    cache = str(tmp_path_factory.mktemp("jax"))
    more = {"JAX_COMPILATION_CACHE_DIR": cache, "JAX_DISABLE_MOST_OPTIMIZATIONS": "true"}
    return {**os.environ, **more}


def command(out: Path, processes: int) -> list[str]:
    program = [sys.executable, "-m", "crisptree.cli", "reproduce", *TINY, "--json"]
    return [*program, "--out", str(out), "--processes", str(processes)]


def records(out: Path) -> dict[str, tuple[int, str]]:
    """When each was written, and what is in it."""
    return {
        path.name: (path.stat().st_mtime_ns, path.read_text())
        for path in out.glob("records/*/*.json")
    }


def timeless(content):
    """Figures without what the clock says."""
    if isinstance(content, dict):
        return {k: timeless(v) for k, v in content.items() if k != "seconds"}
    return [timeless(v) for v in content] if isinstance(content, list) else content


def killed_after(out: Path, count: int, environment) -> None:
    """Run until `count` records are there, then SIGKILL in the middle of the next."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command(out, 2), env=environment, **quiet)
    while len(records(out)) < count and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def finished(out: Path, processes: int, environment) -> dict:
    run = subprocess.run(command(out, processes), env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_killed_and_started_again_nothing_is_lost_or_run_twice(tmp_path, environment):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    reference = finished(straight, 1, environment)
    assert reference["ran"] == 1 + 2 + 2 + 2

    killed_after(killed, 3, environment)
    before = records(killed)
    assert 3 <= len(before) < 7
    result = finished(killed, 2, environment)
    assert result["ran"] == 7 - len(before), "what was there is not run again"
    assert before.items() <= records(killed).items(), "no record lost or written again"
    assert timeless(result["domains"]) == timeless(reference["domains"])
    both = [
        {name: timeless(json.loads(text)) for name, (_, text) in records(out).items()}
        for out in (straight, killed)
    ]
    assert both[0] == both[1]
    assert not list(killed.glob("claims/*/*")) and not list(killed.glob("work/*/*"))
    for name in ("report.md", "report.html", "results.json", "figures/cartpole-curves.png"):
        assert (killed / name).stat().st_size > 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seeds", "0"], "--seeds must be at least 1, not 0"),
        (["--leaves", "1"], "leaves must be at least 2"),
        (["--processes", "0"], "--processes must be at least 1, not 0"),
        (["--models", "dagger-dt"], "imitate the best agent of CartPole-v1"),
        (["--domains", "chess"], "chess"),
        (["--out", "nosuchprotocol://x"], "cannot open the results store"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", "--domains", "cartpole", *arguments])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_help_imports_no_jax():
    code = (
        "import sys\n"
        "from crisptree import cli\n"
        "try:\n    cli.main(['reproduce', '--help'])\nexcept SystemExit:\n    pass\n"
        "assert not {'jax', 'ray', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
