"""The other ways to start: from an expert, a teacher or a list; and the runs of several seeds."""

from dataclasses import replace

import numpy as np
import pytest
from cartpole_trees import GOOD
from runs import Stopped, metrics, read, timeless

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.pipeline import recipe, way
from crisptree.pipeline.report import Silent
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.track import followed
from crisptree.pipeline.train import train


@pytest.fixture(scope="module", autouse=True)
def smallest(tiny):
    """With two leaves at the start there is one shape only, so one program for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "CARTPOLE", replace(tiny, wide=2, starts=1, mend_share=0.5))
        yield


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "my expert.rules"
    path.write_text("if pole angle > 0 then push right\notherwise push left\n")
    return path


def stages(path) -> list[str]:
    return sorted(folder.name for folder in (path / "stages").iterdir())


def test_from_an_experts_rules(rules, tmp_path):
    settings = Settings("CartPole-v1", leaves=2, start_from=rules, episodes=4)
    done = train(settings, tmp_path / "run")
    assert stages(tmp_path / "run") == ["01-refine-2", "02-simplify", "03-search"]
    assert done.tree is not None
    assert done.tree.n_leaves == 2
    assert done.tree.feature[0] == 2  # thresholds and actions are learned, features stay
    changed = done.summary["changes"]
    assert changed["leaves"] == [2, 2]
    assert 0 <= changed["changed_share"] <= 1
    assert f"--start-from '{rules}'" in done.summary["command"]
    # what came in is worth about 42: it stays unless something better was found
    assert done.summary["selection_return"] > 30


def test_an_expert_of_one_action_has_nothing_to_learn(tmp_path):
    path = tmp_path / "a.rules"
    path.write_text("otherwise push left\n")
    done = train(Settings("CartPole-v1", start_from=path, episodes=4), tmp_path / "run")
    assert done.tree is not None
    assert done.tree.n_leaves == 1
    assert done.summary["soft_return"] is None
    assert done.summary["gap"] is None


def test_a_bad_expert_leaves_a_run_that_can_be_mended(rules, tmp_path):
    """The mistake is named; with the file mended the same run goes on."""
    good = rules.read_text()
    rules.write_text("if pole angel > 0 then push right\notherwise push left\n")
    settings = Settings("CartPole-v1", leaves=2, start_from=rules, episodes=4)
    with pytest.raises(CrisptreeError, match="line 1: no feature 'pole angel'"):
        train(settings, tmp_path / "run")
    rules.write_text(good)
    assert train(settings, tmp_path / "run", resume=True).tree is not None


@pytest.fixture
def teacher(tmp_path) -> str:
    GOOD.save(tmp_path / "teacher.json")
    return str(tmp_path / "teacher.json")


def test_every_cut_on_the_way_to_a_small_tree_is_tried_twice(tiny, teacher, tmp_path, monkeypatch):
    """Both tries have names of their own, and whoever follows hears of both; the better goes on."""
    twice = replace(tiny, starts=1, tries=2, polish_share=0.0)
    monkeypatch.setattr(recipe, "CARTPOLE", twice)
    settings = Settings("CartPole-v1", leaves=2, teacher=teacher, episodes=4)
    run, heard = tmp_path / "run", []
    with followed(Silent(), run, heard.append) as tell:
        train(settings, run, tell=tell)
    names = [name[3:] for name in stages(run)]
    ends = [i for i, name in enumerate(names) if name.startswith("choose-")]
    assert ends
    for end in ends:
        size = names[end].removeprefix("choose-")
        second = names.index(f"prune-{size}-2")
        tries = [tree_of(run, names[second - 1]), tree_of(run, names[end - 1])]
        choice = next(run.glob(f"stages/*-{names[end]}/result.json"))
        assert tree_of(run, names[end]).to_dict() == tries[read(choice)["choice"]].to_dict()
    assert {row["stage"] for row in heard} == {name for name in names if "refine" in name}


def tree_of(run, stage: str) -> CrispTree:
    return CrispTree.load(next(run.glob(f"stages/[0-9][0-9]-{stage}/policy.json")))


def test_from_a_policy_file_as_teacher(teacher, tmp_path):
    settings = Settings("CartPole-v1", leaves=2, teacher=teacher, episodes=4)
    done = train(settings, tmp_path / "run")
    assert stages(tmp_path / "run") == ["01-distil", "02-refine-2", "03-simplify", "04-search"]
    assert done.tree is not None
    assert done.tree.n_leaves == 2
    distilled = done.summary["stages"][0]
    assert 0.5 < distilled["agreement"] < 1
    assert distilled["leaves"] == 2


def test_a_list_from_a_teacher(teacher, tmp_path):
    settings = Settings("CartPole-v1", rules=1, teacher=teacher, episodes=4)
    done = train(settings, tmp_path / "run")
    assert done.tree is not None
    assert done.tree.is_rule_list
    assert done.tree.n_leaves <= 2


def test_a_missing_teacher(tmp_path):
    settings = Settings("CartPole-v1", teacher=str(tmp_path / "none.json"))
    with pytest.raises(CrisptreeError, match=r"cannot read .*none\.json"):
        train(settings, tmp_path / "run")


def test_a_list_from_nothing(tmp_path):
    """A tree learns first, and teaches the list."""
    done = train(Settings("CartPole-v1", rules=1, episodes=4), tmp_path / "run")
    assert stages(tmp_path / "run")[:2] == ["01-direct-2", "02-distil"]
    assert done.tree is not None
    assert done.tree.is_rule_list
    assert done.tree.n_leaves <= 2


def test_a_teacher_of_our_own_stopped_and_resumed(tmp_path):
    settings = Settings("CartPole-v1", leaves=2, teacher="mlp", episodes=4, seed=1)
    train(settings, tmp_path / "whole")
    assert stages(tmp_path / "whole")[:2] == ["01-teacher-mlp", "02-distil"]
    for count, (stage, after) in enumerate([("teacher", 3), ("distil", 1), ("refine", 3)]):
        with pytest.raises(KeyboardInterrupt):
            train(settings, tmp_path / "b", resume=count > 0, tell=Stopped(stage, after))
    train(settings, tmp_path / "b", resume=True)
    for name in ("policy.json", "policy.svg"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert metrics(tmp_path / "b") == metrics(tmp_path / "whole")
    assert timeless(read(tmp_path / "b" / "summary.json")) == timeless(
        read(tmp_path / "whole" / "summary.json")
    )


def test_every_seed_is_reported_and_the_policy_is_chosen_by_selection(rules, tmp_path):
    settings = Settings("CartPole-v1", leaves=2, start_from=rules, seed=4, seeds=3, episodes=3)
    done = train(settings, tmp_path / "run")
    summary = done.summary
    assert summary["seeds"] == [4, 5, 6]
    runs = [read(tmp_path / "run" / f"seed-{seed}" / "summary.json") for seed in (4, 5, 6)]
    assert summary["runs"] == runs
    every = [run["crisp_return"] for run in runs]
    assert summary["crisp_return"] == {
        "mean": pytest.approx(np.mean(every)),
        "sd": pytest.approx(np.std(every, ddof=1)),
        "every": every,
    }
    best = max(runs, key=lambda run: run["selection_return"])
    assert summary["policy_of_seed"] == best["seed"]
    chosen = tmp_path / "run" / f"seed-{best['seed']}" / "policy.json"
    assert (tmp_path / "run" / "policy.json").read_bytes() == chosen.read_bytes()
    # each seed's run is the run of that seed alone
    alone = train(replace(settings, seed=5, seeds=1), tmp_path / "alone")
    assert timeless(alone.summary) == {**timeless(runs[1]), "command": alone.summary["command"]}


def test_several_seeds_stopped_and_resumed(rules, tmp_path):
    settings = Settings("CartPole-v1", leaves=2, start_from=rules, seeds=2, episodes=3)
    train(settings, tmp_path / "whole")

    class InTheSecond(Stopped):
        def note(self, text: str) -> None:
            if text == "seed 1":
                self.stage = "refine"

    with pytest.raises(KeyboardInterrupt):
        train(settings, tmp_path / "b", tell=InTheSecond("none", 2))
    assert (tmp_path / "b" / "seed-0" / "summary.json").exists()
    first = (tmp_path / "b" / "seed-0" / "summary.json").stat().st_mtime_ns
    train(settings, tmp_path / "b", resume=True)
    assert (tmp_path / "b" / "seed-0" / "summary.json").stat().st_mtime_ns == first
    for name in ("policy.json", "seed-0/policy.json", "seed-1/policy.json"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_loss_that_is_no_number_keeps_the_last_good_checkpoint(rules, tmp_path, monkeypatch):
    settings = Settings("CartPole-v1", leaves=2, start_from=rules, episodes=4)
    train(settings, tmp_path / "whole")
    real = way.segment_for

    def spoilt(*arguments):
        segment = real(*arguments)

        def until_the_sixth(agents, n):
            at = int(agents.update[0])
            agents, log = segment(agents, n)
            if at + n > 6:
                log["policy_loss"] = np.full_like(log["policy_loss"], np.nan)
            return agents, log

        return until_the_sixth

    monkeypatch.setattr(way, "segment_for", spoilt)
    with pytest.raises(CrisptreeError, match="the policy loss became NaN at update 7: a smaller"):
        train(settings, tmp_path / "b")
    assert read(tmp_path / "b" / "stages" / "01-refine-2" / "checkpoint.json")["agents"] == (
        "agents-000004.npz"
    )
    assert all(line["policy_loss"] is not None for line in metrics(tmp_path / "b"))
    # and nothing is lost: with the loss mended the run goes on as if nothing had been
    monkeypatch.setattr(way, "segment_for", real)
    train(settings, tmp_path / "b", resume=True)
    assert metrics(tmp_path / "b") == metrics(tmp_path / "whole")
    assert (
        CrispTree.load(tmp_path / "b" / "policy.json").to_dict()
        == CrispTree.load(tmp_path / "whole" / "policy.json").to_dict()
    )


@pytest.mark.slow
def test_a_step_size_out_of_all_reason(tmp_path):
    settings = Settings("CartPole-v1", leaves=2, direct=True, learning_rate=1e38, episodes=4)
    with pytest.raises(CrisptreeError, match=r"became NaN at update .*: a smaller learning rate"):
        train(settings, tmp_path / "run")
