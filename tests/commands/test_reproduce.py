"""`crisptree reproduce` as a user runs it, killed in the middle and started again."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crisptree import cli

ROOT = Path(__file__).parents[2]

TINY = "--domains cartpole --models mlp state-action-dt random scripted --layers 0 --leaves 2"
TINY = [*TINY.split(), "--seeds", "2", "--steps", "40000", "--episodes", "20"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Programs compiled quickly, and shared by the processes of this test."""
    cache = str(tmp_path_factory.mktemp("jax"))
    more = {"JAX_COMPILATION_CACHE_DIR": cache, "JAX_DISABLE_MOST_OPTIMIZATIONS": "true"}
    return {**os.environ, **more}


def command(out: Path, workers: int) -> list[str]:
    program = [sys.executable, "-m", "crisptree.cli", "reproduce", *TINY, "--json"]
    return [*program, "--out", str(out), "--workers", str(workers)]


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
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command(out, 2), env=environment, stdout=silent, stderr=silent)
    while len(records(out)) < count and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def finished(out: Path, workers: int, environment) -> dict:
    run = subprocess.run(command(out, workers), env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_killed_and_started_again_nothing_is_lost_or_run_twice(tmp_path, environment):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    reference = finished(straight, 1, environment)
    assert reference["ran"] == 4

    killed_after(killed, 2, environment)
    before = records(killed)
    assert 2 <= len(before) < 4
    result = finished(killed, 2, environment)
    assert result["ran"] == 4 - len(before), "what was there is not run again"
    assert before.items() <= records(killed).items(), "no record lost or written again"
    assert timeless(result["domains"]) == timeless(reference["domains"])
    both = [
        {name: timeless(json.loads(text)) for name, (_, text) in records(out).items()}
        for out in (straight, killed)
    ]
    assert both[0] == both[1]
    # The lock of a run that ended just before the kill may be left; nobody owns it.
    assert not list(killed.glob("work/*/*"))
    for name in ("report.md", "report.html", "results.json", "figures/cartpole-curves.png"):
        assert (killed / name).stat().st_size > 0


def test_a_damaged_record_is_one_line_that_names_the_file(tmp_path, capsys):
    path = tmp_path / "records" / "cartpole-v1" / "deep.json"
    path.parent.mkdir(parents=True)
    path.write_text("[" * 100_000)
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", "--only-report", "--out", str(tmp_path)])
    said = capsys.readouterr().err
    assert stop.value.code == 2 and f"{path} is damaged" in said and said.count("\n") == 1


def test_a_store_without_a_record_of_what_is_asked_for_says_so(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", "--only-report", "--out", str(tmp_path)])
    said = capsys.readouterr().err
    assert stop.value.code == 2 and "has no records of what is asked for" in said
    assert not (tmp_path / "report.html").exists()


def test_the_first_editions_results_are_still_reported(tmp_path, capsys):
    shutil.copytree(ROOT / "results" / "records" / "cartpole-v1", tmp_path / "records")
    arguments = ["--domains", "cartpole", "--only-report", "--json", "--out", str(tmp_path)]
    cli.main(["reproduce", *arguments])
    table = json.loads(capsys.readouterr().out)["domains"]["cartpole"]["table"]
    rows = {row["row"]: row for row in table}
    assert rows["crisp-tree"]["mean"] == 500.0 and rows["crisp-tree"]["config_hash"] is not None
    assert rows["mlp"]["edition"] == 1 and rows["mlp"]["config_hash"] is None
    assert "Made by the first edition" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seeds", "0"], "--seeds must be at least 1, not 0"),
        (["--leaves", "1"], "leaves must be at least 2"),
        (["--workers", "0"], "--workers must be at least 1, not 0"),
        (["--models", "dagger-dt"], "imitate the best agent of CartPole-v1"),
        (["--domains", "chess"], "chess"),
        (["--models", "linear-rule"], "linear-rule is for real actions: give --domains pendulum"),
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
