"""Environments that misbehave: one line names them and says what they did, wherever they run."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bad_envs import ODD_OBSERVATIONS, ODD_REWARDS, ODD_STEPS, TOO_LARGE_TO_LEARN
from command_line import command, fault, strict_json
from corpora import SMALL

from crisptree.crisp import CrispTree

KIND = "misbehaving environments"
HERE = Path(__file__).parent
RAISED = ["raise", "raise nothing", "exit", "recursion", "panic"]
FAULTS = [(name, at) for name in [*RAISED, *ODD_OBSERVATIONS] for at in ("reset", "step")]
FAULTS += [(name, "init") for name in RAISED] + [("", "close"), ("reset text", "reset")]
FAULTS += [(name, "step") for name in [*ODD_REWARDS, *ODD_STEPS]]
SPACES = ["zero features", "no observation space", "no action space", "one action", "pictures"]
SPACES += ["text observations", "a sequence of actions", "unbounded actions"]

pytestmark = pytest.mark.faults


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """The working folder, with a user's module in it."""
    shutil.copy(HERE / "bad_envs.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def policy(**kwargs: object) -> None:
    tree = CrispTree.from_nested((0, 0.5, 1, 0), ("x0", "x1"), ("a", "b"))
    data = {**tree.to_dict(), "env_id": "bad_envs:bad", "env_kwargs": kwargs}
    Path("p.json").write_text(json.dumps(data))


EVALUATE = ("evaluate", "p.json", "--env", "bad_envs:bad", "--episodes", "3", "--json")
TRAIN = ("train", "bad_envs:bad", "--out", "run", "--json", "--config", str(SMALL))


@pytest.mark.parametrize(("name", "at"), FAULTS)
def test_evaluate(name, at):
    policy(fault=name, at=at)
    said = command(*EVALUATE)
    assert fault(said, refused=True) is None
    assert "'bad_envs:bad'" in said.err and said.out == ""


@pytest.mark.parametrize(("name", "at"), FAULTS)
def test_train(name, at, folder):
    said = command(*TRAIN, "--env.kwargs", json.dumps({"fault": name, "at": at}))
    assert fault(said, refused=True) is None
    assert "'bad_envs:bad'" in said.err and said.out == ""
    assert not (folder / "run").exists()


@pytest.mark.parametrize("name", TOO_LARGE_TO_LEARN)
def test_numbers_that_no_learner_can_square(name):
    """A tree decides on them, and its score is a number of JSON; a network cannot learn on them."""
    policy(fault=name)
    said = command(*EVALUATE)
    assert fault(said) is None and isinstance(strict_json(said.out), dict)
    said = command(*TRAIN, "--env.kwargs", json.dumps({"fault": name}))
    assert fault(said, refused=True) is None
    assert "'bad_envs:bad' has" in said.err and "smaller units would help" in said.err


@pytest.mark.parametrize("what", SPACES)
def test_odd_spaces(what):
    kwargs = json.dumps({"what": what})
    said = command("train", "bad_envs:odd_spaces", "--env.kwargs", kwargs, "--out", "run")
    assert fault(said, refused=True) is None and "bad_envs:odd_spaces" in said.err


@pytest.mark.parametrize("name", ["raise", "nan", "exit"])
def test_the_same_line_with_one_start_and_with_several(name):
    """Late: in the middle of learning, where several starts are processes of their own."""
    given = ["--env.kwargs", json.dumps({"fault": name, "late": True})]
    one = command(*TRAIN, *given)
    shutil.rmtree("run", ignore_errors=True)
    several = command(*TRAIN, *given, "--candidates.count", "2", "--candidates.workers", "1")
    assert fault(one, refused=True) is None
    assert one.err.splitlines()[-1] == several.err.splitlines()[-1]


def in_a_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crisptree", *arguments], capture_output=True, text=True, timeout=900
    )


PLAYING = {
    "evaluate": EVALUATE,
    "explain": ("explain", "p.json", "--env", "bad_envs:bad", "--episodes", "2", "--json"),
    "explain --at": ("explain", "p.json", "--env", "bad_envs:bad", "--at", "0", "0", "--json"),
    "compare": ("compare", "p.json", "p.json", "--env", "bad_envs:bad", "--json"),
    "verify": ("verify", "p.json", "--env", "bad_envs:bad", "--along", "2", "--json"),
    "report": ("report", "p.json", "--env", "bad_envs:bad", "--exports", "none", "--out", "r.html"),
    "show": ("show", "p.json", "--env", "bad_envs:bad", "--as", "html"),
}
"""Commands that play an environment."""


@pytest.mark.parametrize("arguments", PLAYING.values(), ids=PLAYING)
@pytest.mark.parametrize("name", ["raise", "exit", "nan", "shape"])
def test_every_command_names_it(name, arguments):
    policy(fault=name)
    said = command(*arguments)
    assert fault(said, refused=True) is None
    assert "'bad_envs:bad'" in said.err and said.out == ""


@pytest.mark.parametrize("arguments", PLAYING.values(), ids=PLAYING)
def test_every_command_names_one_that_crashes(arguments):
    policy(fault="crash")
    done = in_a_process(*arguments)
    assert done.returncode == 9 and done.stdout == ""
    assert "the process ended while the environment 'bad_envs:bad'" in done.stderr


@pytest.mark.parametrize("arguments", PLAYING.values(), ids=PLAYING)
def test_no_command_takes_what_it_prints_for_its_answer(arguments):
    policy(fault="print")
    done = in_a_process(*arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "hello" not in done.stdout and "hello from C" in done.stderr
    if "--json" in arguments:
        strict_json(done.stdout)


@pytest.mark.parametrize("arguments", PLAYING.values(), ids=PLAYING)
def test_what_a_thread_of_its_own_raises_is_one_line(arguments):
    policy(fault="thread")
    done = in_a_process(*arguments)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert "'bad_envs:bad' raised where nobody waits: ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("name", ["crash", "abort"])
@pytest.mark.parametrize("at", ["init", "reset", "step"])
def test_one_that_takes_the_process_with_it_is_named(name, at):
    policy(fault=name, at=at)
    done = in_a_process(*EVALUATE)
    assert done.returncode not in (0, 1, 2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("crisptree: the process ended while the environment 'bad_envs:bad'")


def test_one_that_takes_a_starts_process_with_it_is_named():
    given = ["--env.kwargs", json.dumps({"fault": "crash", "late": True})]
    said = command(*TRAIN, *given, "--candidates.count", "2", "--candidates.workers", "1")
    assert fault(said, refused=True) is None
    assert "its process ended" in said.err and "'bad_envs:bad' was at work" in said.err


def test_printing_does_not_break_the_json_of_a_training():
    """Neither Python's print nor what C writes to the file descriptor."""
    done = in_a_process(*TRAIN, "--episodes", "4", "--env.kwargs", '{"fault": "print"}')
    assert done.returncode == 0, done.stderr[-2000:]
    assert isinstance(strict_json(done.stdout), dict)
    assert "hello from C" in done.stderr and "hello from the environment" in done.stderr


def test_episodes_that_never_end_are_cut():
    policy(length=10**9)
    said = command(*EVALUATE)
    assert fault(said) is None and json.loads(said.out)["cut"] == 3
    said = command(*EVALUATE[:-1], "--max-steps", "10")
    assert "3 did not end and were cut at the step limit" in said.out
