"""A second teacher takes over where the first has learned nothing."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from small import PPO, small_config

from crisptree.envs.task import task_of
from crisptree.pipeline.config import TeacherConfig
from crisptree.pipeline.plan import first_stages
from crisptree.pipeline.progress import Silent
from crisptree.pipeline.resolve import resolve
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import run_stages
from crisptree.pipeline.stages.teacher import Fallback, Teacher
from crisptree.pipeline.timing import Measurement


class NothingToLearn(gym.Env):
    """Every episode earns the same."""

    observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._left = 4
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self._left -= 1
        return np.zeros(2, np.float32), 1.0, self._left == 0, False, {}


STAGES = [Teacher("teacher-mlp", "mlp", patience=0.5), Fallback("teacher-dqn", "dqn")]


def run(path, env, stages=STAGES):
    path.mkdir(exist_ok=True)
    task = task_of(env)
    config = small_config(steps=32 * PPO.steps_per_update)
    return run_stages(stages, task, config, 3, RunDirectory(path), Silent())


def test_a_teacher_that_learned_nothing_gives_way_to_another(tmp_path):
    made, (first, second) = run(tmp_path / "run", NothingToLearn)
    assert first["learned"] is False and first["pace"] < 1
    assert second["steps"] > 0
    assert made.learner.epsilon.shape == (1, 1)  # Q-learning's
    again, _ = run(tmp_path / "run", NothingToLearn)  # everything is read from its folder
    assert made.teacher is not None and again.teacher is not None
    states = np.zeros((3, 2), np.float32)
    np.testing.assert_array_equal(again.teacher.act(states), made.teacher.act(states))


class Learned(Teacher):
    """Says that it has learned."""

    def run(self, inputs, context):
        return replace(inputs, figures={"learned": True})

    def save(self, made, folder):
        pass

    def load(self, folder, inputs, context):
        return inputs


def test_a_teacher_that_has_learned_stays(tmp_path):
    stages = [Learned("teacher-mlp", "mlp"), STAGES[1]]
    for _ in range(2):
        made, records = run(tmp_path / "run", "CartPole-v1", stages)
        assert "steps" not in records[1] and made.teacher is None


@pytest.mark.parametrize(
    ("env", "beginning", "fallback", "teachers"),
    [
        ("CartPole-v1", "mlp", None, ["teacher-mlp", "teacher-dqn"]),
        ("CartPole-v1", "mlp", "none", ["teacher-mlp"]),
        ("Pendulum-v1", "levels", None, ["teacher-levels", "teacher-sac"]),
        ("Pendulum-v1", "sac", None, ["teacher-sac"]),
    ],
)
def test_who_waits_follows_from_the_actions(env, beginning, fallback, teachers):
    task = task_of(env)
    config = small_config(env, teacher=TeacherConfig(fallback=fallback))
    config = resolve(config, task, Measurement(1e4, 200.0))
    names = [stage.name for stage in first_stages(beginning, config)]
    assert names == [*teachers, "distill", "refine-first"]
