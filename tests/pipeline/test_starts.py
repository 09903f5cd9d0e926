import json
import subprocess
import sys

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.pipeline import starts, train
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.report import Silent
from crisptree.pipeline.settings import MOST_STARTS, Settings
from crisptree.pipeline.starts import start_of, way_seed


def test_undecided_starts_take_turns():
    settings = Settings("LunarLander-v3", starts=4)
    begun = [start_of(settings, start) for start in range(4)]
    assert [own.route for own, _ in begun] == ["teacher mlp", "direct", "teacher mlp", "direct"]
    assert [number for _, number in begun] == [0, 0, 1, 1]


@pytest.mark.parametrize("told", [{"direct": True}, {"teacher": "soft"}])
def test_decided_starts_are_all_alike(told):
    settings = Settings("LunarLander-v3", starts=3, **told)
    assert [start_of(settings, start) for start in range(3)] == [(settings, i) for i in range(3)]


def test_no_two_starts_share_a_seed():
    seeds = [way_seed(seed, start) for seed in range(5) for start in range(MOST_STARTS + 1)]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(
    ("env", "asked", "cores", "route", "n_starts"),
    [
        ("CartPole-v1", {}, 2, "direct", 1),
        ("CartPole-v1", {"starts": 3}, 2, "direct", 3),
        ("crisptree/Wildfire-v0", {}, 2, "teacher soft", 1),
        ("crisptree/Zerglings-v0", {}, 2, "teacher mlp", 1),
        ("crisptree/Zerglings-v0", {"direct": True}, 2, "direct", 1),
        ("LunarLander-v3", {}, 1, "teacher mlp", 1),
        ("LunarLander-v3", {"starts": 1}, 8, "teacher mlp", 1),
        ("LunarLander-v3", {"direct": True}, 8, "direct", 8),
    ],
)
def test_what_is_settled_before_the_run(monkeypatch, env, asked, cores, route, n_starts):
    monkeypatch.setattr(train, "cores", lambda: cores)
    settled = train.settled(Settings(env, **asked))
    assert (settled.route, settled.starts, settled.undecided) == (route, n_starts, False)


def test_several_cores_leave_it_to_the_starts(monkeypatch):
    monkeypatch.setattr(train, "cores", lambda: 8)
    settled = train.settled(Settings("LunarLander-v3"))
    assert settled.undecided and settled.starts == 8


WORKER = """
import json, pathlib, sys
folder, outcome = pathlib.Path(sys.argv[1]), sys.argv[2]
print("crisptree: no such thing")
if outcome == "fails":
    sys.exit(2)
way_seed = json.loads((folder / "config.json").read_text())["way_seed"]
arrived = {"selection_return": float(way_seed), "records": []}
(folder / "arrived.json").write_text(json.dumps(arrived))
(folder / "policy.json").write_text(pathlib.Path(sys.argv[3]).read_text())
"""


@pytest.fixture
def workers(monkeypatch, tmp_path):
    """Worker processes that arrive at once, with their seed as the return; told how to end."""
    policy = tmp_path / "policy.json"
    CrispTree.from_nested((0, 0.5, 0, 1), ("x",), ("left", "right")).save(policy)
    spawned: list[str] = []

    def let(outcome: str) -> list[str]:
        def spawn(folder):
            spawned.append(folder.name)
            with open(folder / "log.txt", "a") as log:
                words = [sys.executable, "-c", WORKER, str(folder), outcome, str(policy)]
                return subprocess.Popen(words, stdout=log)

        monkeypatch.setattr(starts, "_spawn", spawn)
        return spawned

    return let


def test_every_start_arrives_and_is_not_run_again(workers, tmp_path):
    spawned = workers("arrives")
    directory = RunDirectory(tmp_path / "run")
    settings = Settings("LunarLander-v3", starts=3)
    every = starts.run_starts(settings, 5, directory, Silent())
    assert [arrived.selection_return for arrived in every] == [
        way_seed(5, 0),
        way_seed(5, 0),
        way_seed(5, 1),
    ]
    config = json.loads((tmp_path / "run/starts/1/config.json").read_text())
    assert Settings.from_dict(config["settings"]).route == "direct"
    (tmp_path / "run/starts/1/arrived.json").unlink()
    assert sorted(spawned) == ["0", "1", "2"]
    starts.run_starts(settings, 5, directory, Silent())
    assert sorted(spawned) == ["0", "1", "1", "2"]


def test_a_start_that_fails_says_why(workers, tmp_path):
    workers("fails")
    with pytest.raises(
        CrisptreeError, match=r"a start failed: crisptree: no such thing \(see .*log"
    ):
        starts.run_starts(
            Settings("LunarLander-v3", starts=2), 0, RunDirectory(tmp_path / "run"), Silent()
        )


@pytest.mark.slow
def test_two_starts_in_processes_of_their_own(tmp_path):
    settings = Settings("CartPole-v1", leaves=2, starts=2, steps=20_000, episodes=10)
    summary = train.train(settings, tmp_path / "run").summary
    assert summary["starts"] == 2 and summary["route"] == "direct"
    assert all((tmp_path / f"run/starts/{i}/policy.json").exists() for i in range(2))
