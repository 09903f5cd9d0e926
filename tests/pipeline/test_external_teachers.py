"""Teachers that people bring: what does not fit is refused in one line."""

import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of
from crisptree.pipeline.teachers import external_teacher


def one_leaf(task, action) -> CrispTree:
    none = np.array([-1])
    return CrispTree(
        feature=none,
        threshold=np.zeros(1),
        if_true=none,
        if_false=none,
        action=np.array(action),
        **task.signature,
    )


def test_a_policy_file_teaches(tmp_path):
    task = task_of("Pendulum-v1")
    one_leaf(task, [[0.5]]).save(tmp_path / "policy.json")
    teacher = external_teacher(str(tmp_path / "policy.json"), task)
    assert external_teacher(str(tmp_path), task) == teacher  # the directory of a run
    np.testing.assert_allclose(teacher.act(np.zeros((3, 3), np.float32)), [[0.5]] * 3)


@pytest.mark.parametrize(
    ("other", "action", "says"),
    [
        ("CartPole-v1", [1], "looks at 4 features; 'Pendulum-v1' has 3"),
        ("Reacher-v5", [[0.0, 0.0]], "looks at 10 features; 'Pendulum-v1' has 3"),
    ],
)
def test_a_policy_file_of_another_environment(tmp_path, other, action, says):
    if other == "Reacher-v5":
        pytest.importorskip("mujoco")
    one_leaf(task_of(other), action).save(tmp_path / "policy.json")
    with pytest.raises(CrisptreeError, match=says):
        external_teacher(str(tmp_path / "policy.json"), task_of("Pendulum-v1"))


def test_a_policy_file_with_other_actions(tmp_path):
    one_leaf(task_of("MountainCar-v0"), [1]).save(tmp_path / "policy.json")
    with pytest.raises(CrisptreeError, match=r"3 discrete actions; 'Mount.* has 1 box ones"):
        external_teacher(str(tmp_path / "policy.json"), task_of("MountainCarContinuous-v0"))
