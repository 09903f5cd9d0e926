import csv
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from urllib.request import urlopen

import numpy as np
import pytest

from crisptree import cli
from crisptree.commands import study_policies
from crisptree.lab.study import LinearMLP, load_drawing
from crisptree.lab.study.database import (
    all_participants,
    create_study,
    invite,
    open_engine,
    store_answer,
)
from crisptree.lab.study.definition import define
from crisptree.lab.study.drawing import cartpole_drawings
from crisptree.lab.study.page_sequence import CONSENT
from crisptree.lab.study.questionnaire import Questionnaire
from crisptree.lab.study.train_mlp import CrossEntropyConfig

MLP = LinearMLP(
    ((np.array([[0.2, -3.0], [1.0, 0.4]]), np.zeros(2)),), ("a", "b"), ("left", "right"), "Some-v0"
)


@dataclass(frozen=True)
class ShortSearch(CrossEntropyConfig):
    generations: int = 1
    population: int = 4
    elite: int = 2


@pytest.fixture
def database(tmp_path, monkeypatch):
    """A study with two people, one of whom began."""
    monkeypatch.chdir(tmp_path)
    engine = open_engine("study.db")
    states = np.random.default_rng(0).normal(size=(500, 4)) * [0.5, 0.3, 0.03, 0.4]
    drawings = [(drawing, states) for drawing in cartpole_drawings()]
    definition = define(drawings, Questionnaire(), 5, 0)
    with engine.begin() as connection:
        study = create_study(connection, "study", definition)
        invite(connection, study, 2)
        who = all_participants(connection, study)[0]
        store_answer(connection, study, who, CONSENT, {"agreed": True}, None)
    engine.dispose()
    return tmp_path / "study.db"


def run(capsys, *arguments: str) -> str:
    cli.main(["study", *arguments])
    return capsys.readouterr().out


def test_help_lists_the_parts(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["study", "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for name in ("plan", "serve", "invite", "export", "report", "delete", "mlp", "worksheet"):
        assert f"\n  {name} " in out


def test_invite_prints_links(database, capsys):
    out = run(capsys, "invite", "--people", "3", "--url", "https://study.example/")
    assert len(out.splitlines()) == 3
    assert all(line.startswith("https://study.example/p/") for line in out.splitlines())


def test_export_to_standard_output_and_to_files(database, capsys, tmp_path):
    out = run(capsys, "export")
    assert next(csv.reader(io.StringIO(out)))[:2] == ["study", "participant"]
    assert run(capsys, "export", "--out", "a.csv") == "wrote a.csv\n"
    assert (tmp_path / "a.csv").read_text() == out
    run(capsys, "export", "--out", "a.parquet")
    assert (tmp_path / "a.parquet").read_bytes()[:4] == b"PAR1"


def test_report_in_words_in_json_and_as_a_directory(database, capsys, tmp_path):
    assert "nothing can be said" in run(capsys, "report")
    found = json.loads(run(capsys, "report", "--json", "--out", "report"))
    assert found["ratings"] is None and found["measured"]["policies"] == ["tree", "list", "mlp"]
    assert {at.name for at in (tmp_path / "report").iterdir()} == {
        "report.md",
        "report.json",
        "answers.csv",
    }


def test_delete_by_number(database, capsys):
    assert run(capsys, "delete", "1") == "participant 1 is deleted\n"
    with pytest.raises(SystemExit) as stop:
        cli.main(["study", "delete", "1"])
    assert stop.value.code == 2
    assert capsys.readouterr().err == "crisptree: the study 'study' has no participant 1\n"


def test_plan_prints_a_table_or_json(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["plan", "--people", "5", "8", "--studies", "20"]
    assert "people" in run(capsys, *options)
    found = json.loads(run(capsys, *options, "--json", "--example", "example"))
    assert [each["people"] for each in found["power"]] == [5, 8]
    assert "SIMULATED" in (tmp_path / "example" / "report.md").read_text()


def test_binarise_and_worksheet(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    MLP.save("raw.json")
    run(capsys, "binarise", "raw.json", "--keep", "1", "--out", "hot.json")
    assert LinearMLP.load("hot.json").layers[0][0].tolist() == [[0.0, -1.0], [1.0, 0.0]]
    run(capsys, "worksheet", "hot.json", "--out", "sheet.svg")
    assert (tmp_path / "sheet.svg").read_text() == load_drawing("hot.json").svg()


def test_mlp_trains_binarises_and_scores(capsys, tmp_path, monkeypatch):
    """With a short search, so that only the way is tested."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("crisptree.lab.study.train_mlp.CrossEntropyConfig", ShortSearch)
    out = run(capsys, "mlp", "CartPole-v1", "--seed", "3", "--out", "mlp.json")
    mlp = LinearMLP.load("mlp.json")
    assert set(np.unique(mlp.layers[0][0])) <= {-1, 0, 1} and mlp.env_id == "CartPole-v1"
    assert mlp.training["command"] == "crisptree study mlp CartPole-v1 --seed 3"
    assert f"return {mlp.training['return']:.1f}" in out and mlp.training["episodes"] == 100


def test_states_come_from_the_policys_own_episodes():
    policy = cartpole_drawings()[0].policy
    states = study_policies.visited_states(policy)
    assert states.shape[1] == 4 and len(states) > 1000
    assert np.abs(states[:, 2]).max() < 0.21  # no further than where the pole counts as fallen


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env_id": None}, "the policy does not name its environment: give one with --env"),
        ({"env_id": "evilmod:Evil-v0"}, "never makes crisptree import a module: if you trust it"),
        ({"feature_function": "evilmod:f"}, "never makes crisptree import a module: if you trust"),
        ({"env_id": "Acrobot-v1"}, "the policy has 4 features, 'Acrobot-v1' has 6"),
        ({"env_id": "Nope-v0"}, "Nope"),
        ({"env_id": "\x1b[2JX-v0"}, ""),
    ],
)
def test_a_policy_file_gets_no_module_imported(database, capsys, changes, message):
    replace(cartpole_drawings()[0].policy, **changes).save("p.json")
    with pytest.raises(SystemExit) as stop:
        cli.main(["study", "serve", "--name", "new", "--policies", "p.json", "tree:p.json"])
    said = capsys.readouterr().err
    assert stop.value.code == 2 and message in said
    assert said.count("\n") == 1 and "\x1b" not in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "--out", "a.xlsx"], "--out ends in '.xlsx'"),
        (["export", "--name", "none"], "the database has no study 'none'; its studies are study"),
        (["report", "--database", "mysql://x/y"], "the database is 'mysql'"),
        (["invite", "--people", "0"], "--people is 0"),
        (["serve", "--policies", "none.json"], "cannot read none.json"),
        (["serve", "--questionnaire", "none.toml"], "cannot read the questionnaire none.toml"),
        (["serve", "--host", "256.0.0.1"], "cannot listen at 256.0.0.1"),
        (["plan", "--people", "1"], "a study needs 3"),
        (["plan", "--items", "0"], "items: Input should be greater than or equal to 1"),
        (["plan", "--seed", "-1"], "alpha is 0.05 and seed -1"),
        (["report", "--most-away", "nan"], "most-away is nan"),
        (["report", "--out", "study.db/x"], "cannot write to study.db/x: Not a directory"),
        (["export", "--out", "none/a.csv"], "cannot write none/a.csv"),
        (["delete", "99999999999999999999"], "the study 'study' has no participant 9999"),
        (["serve", "--name", "two", "--seed", "-1"], "seed is -1"),
        (["serve", "--host", ""], "cannot listen at ''"),
        (["mlp", "CartPole-v1", "--seed", "-1"], "seed is -1"),
        (["binarise", "none.json"], "cannot read none.json"),
        (["worksheet", "none.json"], "cannot read none.json"),
        (["nonsense"], ""),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(database, capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        cli.main(["study", *arguments])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"crisptree: {message}") and captured.err.count("\n") == 1


def test_serve_serves_and_stops_when_interrupted(database):
    process = subprocess.Popen(
        [sys.executable, "-m", "crisptree.cli", "study", "serve", "--port", "0"],
        env={k: v for k, v in os.environ.items() if k != "CRISPTREE_STUDY_SECRET"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines[0] == "study study: 3 policies, in study.db\n"
    assert lines[1].startswith("participants: http://127.0.0.1:") and "/join/" in lines[1]
    assert "/researcher  secret: " in lines[2]
    with urlopen(lines[1].split(": ", 1)[1].strip()) as reply:
        assert reply.status == 200
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in said


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("sqlalchemy", ["export"], "study"),
        ("sqlalchemy", ["report"], "study"),
        ("sqlalchemy", ["invite"], "study"),
        ("fastapi", ["serve"], "study"),
        ("uvicorn", ["serve"], "study"),
        ("jinja2", ["serve"], "study"),
        ("matplotlib", ["report", "--out", "x"], "study"),
        ("pyarrow", ["export", "--out", "x.parquet"], "study"),
        ("scipy", ["plan"], "study"),
    ],
)
def test_a_missing_package_is_told_with_its_extra(database, package, arguments, extra):
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"from crisptree import cli; cli.main(['study', *{arguments!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=database.parent, capture_output=True, text=True
    )
    message = f"crisptree study needs the package {package}: pip install 'crisptree[{extra}]'"
    assert (done.returncode, done.stderr) == (2, f"crisptree: {message}\n")


def test_planning_needs_no_database(tmp_path):
    program = (
        "import sys; sys.modules['sqlalchemy'] = sys.modules['fastapi'] = None\n"
        "from crisptree import cli; cli.main(['study', 'plan', '--people', '5', '--studies', '2'])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_jax_is_not_needed(tmp_path):
    program = (
        "import sys; from crisptree import cli\n"
        "try: cli.main(['study', 'export', '--database', 'none/x.db'])\n"
        "except SystemExit: pass\n"
        "sys.exit('jax' in sys.modules or 'gymnasium' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
