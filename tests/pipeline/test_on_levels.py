"""Real actions that are learned as choices among levels."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from small import SHORT_PENDULUM, small_config

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.config import EvolveConfig
from crisptree.crispen.level_choices import OfLevels, holds_levels
from crisptree.envs.levels import Levels
from crisptree.envs.task import task_of
from crisptree.pipeline.config import CandidateConfig, PolicyConfig, TeacherConfig, TrainConfig
from crisptree.pipeline.plan import first_stages, legs, plan
from crisptree.pipeline.progress import Silent
from crisptree.pipeline.resolve import resolve
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import Before, run_stages
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.stages.distill import Distill
from crisptree.pipeline.stages.evolve import Evolve
from crisptree.pipeline.stages.on_levels import OnLevels
from crisptree.pipeline.stages.prune import CutAtOnce, Prune, Simplify
from crisptree.pipeline.stages.refine import Refine
from crisptree.pipeline.stages.search import Search
from crisptree.pipeline.stages.teacher import Teacher
from crisptree.pipeline.timing import Measurement

TASK = task_of("Pendulum-v1", SHORT_PENDULUM)
LEVELS = Levels(TASK.actions, 3)


@dataclass(frozen=True)
class Look(Stage):
    """Says what it sees, and asks the other way round."""

    name: str = "look"

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        assert inputs.tree is not None
        figures = {
            "task": context.task.actions.kind,
            "tree": inputs.tree.actions.kind,
            "generations": context.config.evolve.generations,
        }
        tree = inputs.tree
        turned = replace(tree, if_true=tree.if_false, if_false=tree.if_true)
        return replace(inputs, tree=turned, figures=figures)


def tree_with(above: float, below: float) -> CrispTree:
    return CrispTree.from_nested((2, 0.5, [above], [below]), **TASK.signature)


def acts(tree: CrispTree) -> list:
    """Above the threshold, and below it."""
    return tree.act(np.array([[0, 0, 1.0], [0, 0, 0]], np.float32)).tolist()


def run(path, tree: CrispTree):
    config = small_config("Pendulum-v1", teacher=TeacherConfig(levels=3))
    before = Before(Artifacts(tree=tree))
    made, (record,) = run_stages(
        [OnLevels.of(Look())], TASK, config, 0, RunDirectory(path), Silent(), before=before
    )
    assert made.tree is not None
    return made.tree, record


def test_a_stage_on_levels_sees_choices_and_gives_real_actions(tmp_path):
    made, record = run(tmp_path, tree_with(2.0, 0.0))
    assert record["task"] == record["tree"] == "multi_discrete"
    assert record["generations"] == 0  # choices do not evolve
    assert acts(made) == [[0.0], [2.0]]
    again, same = run(tmp_path, tree_with(2.0, 0.0))  # read from its folder
    assert again == made and same == record


def test_a_tree_with_other_values_stays_as_it_is(tmp_path):
    made, record = run(tmp_path, tree_with(1.9, 0.0))
    assert record["task"] == record["tree"] == "box"
    assert acts(made) == [[0.0], [1.9]]


def small(leaf: Any = "constant") -> TrainConfig:
    return small_config(
        "Pendulum-v1",
        policy=PolicyConfig("tree", 3, leaf=leaf, gains=1),
        candidates=CandidateConfig(("levels",), 1),
        teacher=TeacherConfig(levels=3),
    )


def test_a_teacher_that_chooses_acts_in_real_numbers(tmp_path):
    config = small()
    stages = first_stages("levels", config)[:1]

    def teacher():
        made, _ = run_stages(stages, TASK, config, 0, RunDirectory(tmp_path), Silent())
        return made.teacher

    found = teacher()
    assert isinstance(found, OfLevels)
    states = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    acts = found.act(states)
    assert set(acts.ravel()) <= {-2.0, 0.0, 2.0}
    again = teacher()  # read from its folder
    assert again is not None and np.array_equal(again.act(states), acts)


class Flat(Teacher):
    """Has learned nothing."""

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        return replace(super().run(inputs, context), figures={"learned": False})


def test_the_teacher_that_takes_over_does_not_choose_among_levels(tmp_path):
    """Its tree holds any values, and later stages leave it so."""
    config = small()
    config = replace(config, teacher=replace(config.teacher, fallback="sac"))
    legs_before = legs("levels", config)
    flat = OnLevels.of(Flat("teacher-levels", "mlp"))
    stages = [flat, *(stage for leg in legs_before for stage in leg.stages[leg.name == "first" :])]
    made, records = run_stages(stages, TASK, config, 0, RunDirectory(tmp_path), Silent())
    taken_over = records[1]
    assert taken_over["stage"] == "teacher-sac" and taken_over["steps"] > 0
    assert made.tree is not None and made.tree.actions == TASK.actions
    (distilled,) = tmp_path.glob("stages/*-distill/policy.json")
    assert not holds_levels(CrispTree.load(distilled), LEVELS)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_a_plan_ends_in_a_tree_with_real_actions(tmp_path, leaf):
    config = small(leaf)
    stages = plan("levels", config)
    names = [stage.name for stage in stages]
    assert len(set(names)) == len(names)
    made, records = run_stages(stages, TASK, config, 0, RunDirectory(tmp_path), Silent())
    assert made.tree is not None and made.tree.actions == TASK.actions
    assert made.tree.n_leaves <= 3
    assert [record["stage"] for record in records] == names
    if leaf == "constant":
        (first,) = tmp_path.glob("stages/*-refine-first/policy.json")
        assert holds_levels(CrispTree.load(first), LEVELS)


def test_only_the_last_leg_holds_any_values():
    """Constant leaves choose among levels until they evolve; linear ones never do."""
    *learned, cut, search, last = legs("levels", small())
    assert all(isinstance(stage, OnLevels) for leg in (*learned, search) for stage in leg.stages)
    assert isinstance(cut.stages[0], Prune)  # drawn trees are its rivals
    assert [type(stage) for stage in last.stages[:2]] == [Simplify, Evolve]
    unmoved = replace(small(), evolve=EvolveConfig(generations=0))
    assert [type(stage) for stage in legs("levels", unmoved)[-1].stages[:2]] == [Simplify, Search]
    every = [stage for leg in legs("levels", small("linear")) for stage in leg.stages]
    assert [stage.name for stage in every if isinstance(stage, OnLevels)] == ["teacher-levels"]


def test_trees_from_scratch_choose_among_levels_too():
    def types(leg):
        return {type(stage) for stage in leg.stages}

    assert types(legs("direct", small())[0]) == {OnLevels}
    assert types(legs("mlp", small())[0]) == {Teacher, Distill, Refine, CutAtOnce}
    choices = replace(small(), evolve=EvolveConfig(generations=0))  # as for Discrete actions
    assert OnLevels not in types(legs("direct", choices)[0])


def test_levels_are_refused_where_actions_are_choices_already():
    config = TrainConfig(candidates=CandidateConfig(("levels",)))
    with pytest.raises(CrisptreeError, match=r"^levels need Box actions; 'CartPole-v1' has discr"):
        resolve(config, task_of("CartPole-v1"), Measurement(1000.0, 20.0))
    with pytest.raises(CrisptreeError, match=r"^teacher.levels must be at least 2, not 1"):
        replace(config, teacher=TeacherConfig(levels=1))
