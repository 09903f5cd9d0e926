import json
import os
import re

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from cartpole_trees import CLUMSY, GOOD

from crisptree.crispen.refine import Snapshot
from crisptree.learn import session
from crisptree.learn.agent import Agent
from crisptree.learn.config import Learning
from crisptree.learn.creation import beginning_at_random
from crisptree.learn.moments import Moments
from crisptree.learn.session import Progress
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.keeper import Carry, Keeper
from crisptree.soft import balanced

CONFIG = Learning(n_envs=2, n_steps=8, minibatches=2)


class Told:
    def __init__(self) -> None:
        self.bars: list[tuple[str, float, str]] = []

    def advance(self, stage: str, done: float, text: str) -> None:
        self.bars.append((stage, done, text))

    def note(self, text: str) -> None:
        raise AssertionError("a keeper has nothing to note")


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(session, "RESTART", 4)


@pytest.fixture(scope="module")
def agents() -> Agent:
    return beginning_at_random(2, balanced(2), 4, 2, CONFIG, 10, seed=0, numbers=(0, 1)).agents()


@pytest.fixture
def stage(tmp_path):
    """Makes the stage's keeper as a new process would."""
    return lambda: Keeper(RunDirectory(tmp_path), 3, "refine-8", 16, Told())


def at(agents: Agent, update: int, returns) -> Progress:
    """Where a training stands that came to `update`; `returns` are those of the last segment."""
    returns = np.array(returns, np.float32)
    metrics = {"policy_loss": np.zeros(returns.shape, np.float32), "return": returns}
    moved = eqx.tree_at(lambda a: a.update, agents, jnp.full(2, update, jnp.int32))
    return Progress(moved, update, metrics)


def lines(tmp_path) -> list[dict]:
    return [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]


def folder(tmp_path) -> set[str]:
    return set(os.listdir(tmp_path / "stages" / "03-refine-8"))


def test_a_segment_is_logged_update_by_update_and_start_by_start(tmp_path, stage, agents):
    keeper = stage()
    keeper.resumed(agents)
    keeper.segment(at(agents, 3, [[1, 2], [np.nan, 4], [5, 6]]))
    logged = lines(tmp_path)
    assert all(line.pop("steps_per_second") > 0 for line in logged)
    assert logged == [
        {"stage": "refine-8", "start": start, "step": step, "policy_loss": 0.0, "return": value}
        for step, values in ((16, (1, 2)), (32, (None, 4)), (48, (5, 6)))
        for start, value in enumerate(values)
    ]
    ((name, done, text),) = keeper._tell.bars
    assert (name, done) == ("refine-8", 0.3)
    assert re.fullmatch(r"return      6\.0   [\d,]+k steps/s", text)


def test_one_start_needs_no_number(tmp_path, stage, agents):
    keeper = stage()
    keeper.segment(at(agents, 1, [[np.nan]]))
    (line,) = lines(tmp_path)
    assert set(line) == {"stage", "step", "policy_loss", "return", "steps_per_second"}
    assert keeper._tell.bars[0][2].startswith("return        ?")


def test_checkpoints_are_written_where_a_training_can_go_on(tmp_path, stage, agents):
    keeper = stage()
    keeper.resumed(agents)
    keeper.segment(at(agents, 3, [[1, 1]] * 3))
    assert folder(tmp_path) == {"checkpoint.json"}
    keeper.segment(at(agents, 4, [[1, 1]]))
    assert folder(tmp_path) == {"checkpoint.json", "agents-000004.npz"}
    keeper.segment(at(agents, 8, [[1, 1]] * 4))
    assert folder(tmp_path) == {"checkpoint.json", "agents-000008.npz"}  # the old one is gone


def test_a_stage_goes_on_from_its_last_checkpoint(tmp_path, stage, agents):
    first = stage()
    assert first.resumed(agents) == (agents, [])
    snapshots = [Snapshot(GOOD, 0), Snapshot(CLUMSY, 1)]
    reached = at(agents, 4, [[1, 2]] * 4)
    first.segment(reached, snapshots)
    first.segment(at(agents, 6, [[3, 3]] * 2), [*snapshots, Snapshot(GOOD, 1)])  # and stops there

    again = stage()
    going_on, kept = again.resumed(agents)
    assert going_on.update.tolist() == [4, 4]
    assert eqx.tree_equal(going_on, reached.agents)
    assert [(s.tree.to_dict(), s.start) for s in kept] == [
        (s.tree.to_dict(), s.start) for s in snapshots
    ]
    assert [line["step"] for line in lines(tmp_path)] == [16, 16, 32, 32, 48, 48, 64, 64]
    again.segment(at(agents, 6, [[3, 3]] * 2))
    assert [line["step"] for line in lines(tmp_path)][8:] == [80, 80, 96, 96]


def test_what_was_logged_before_the_first_checkpoint_is_not_logged_twice(tmp_path, stage, agents):
    RunDirectory(tmp_path).append_metrics([{"stage": "before"}])
    for _ in range(3):  # stopped twice
        keeper = stage()
        assert keeper.resumed(agents) == (agents, [])
        keeper.segment(at(agents, 2, [[1, 1]] * 2))
    assert [line["stage"] for line in lines(tmp_path)] == ["before"] + ["refine-8"] * 4


def test_the_return_in_training_is_that_of_the_last_episodes(stage, agents):
    keeper = stage()
    keeper.resumed(agents)
    assert keeper.training_return(0) is None
    keeper.segment(at(agents, 2, [[1, np.nan], [2, np.nan]]))
    assert (keeper.training_return(0), keeper.training_return(1)) == (1.5, None)
    keeper.segment(at(agents, 4, [[np.nan, 3], [np.nan, np.nan]]))
    assert (keeper.training_return(0), keeper.training_return(1)) == (1.5, 3.0)
    # whoever goes on from here, where nothing more ends, knows it too
    again = stage()
    again.resumed(agents)
    again.segment(at(agents, 5, [[np.nan, 7]]))
    assert (again.training_return(0), again.training_return(1)) == (1.5, 7.0)


def test_time_goes_on_where_it_stopped(stage, agents):
    keeper = stage()
    keeper.resumed(agents)
    keeper._since -= 100
    keeper.segment(at(agents, 4, [[1, 1]] * 4))
    again = stage()
    assert again.seconds < 50
    again.resumed(agents)
    assert 100 <= again.seconds < 150


def test_a_finished_stage_has_a_result_and_nothing_else_left(tmp_path, stage, agents):
    keeper = stage()
    assert keeper.result() is None
    keeper.resumed(agents)
    keeper.segment(at(agents, 4, [[1, 1]] * 4))
    moments = Moments(jnp.arange(4.0), jnp.ones(4), jnp.ones(()))
    carry = eqx.tree_at(lambda c: c.observations, Carry.empty(4, 64), moments)
    record = keeper.finish({"leaves": 4}, GOOD, carry)
    assert folder(tmp_path) == {"policy.json", "carry.npz", "result.json"}

    again = stage()
    assert (
        again.result() == record == {"stage": "refine-8", "leaves": 4, "seconds": record["seconds"]}
    )
    assert again.tree().to_dict() == GOOD.to_dict()
    assert eqx.tree_equal(again.carry(4, 64), carry)


def test_a_finished_soft_stage_gives_its_agents_back(stage, agents):
    keeper = stage()
    keeper.resumed(agents)
    done = at(agents, 10, [[1, 1]]).agents
    keeper.finish({}, agent=done)
    assert eqx.tree_equal(stage().resumed(agents)[0], done)


def test_nothing_is_carried_at_first():
    carry = Carry.empty(3, 64)
    assert carry.observations.mean.tolist() == [0, 0, 0]
    assert eqx.tree_equal(carry, Carry.empty(3, 64))
