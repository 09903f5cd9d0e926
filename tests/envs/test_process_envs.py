import os
import subprocess
import sys
import textwrap
import time

import gymnasium
import numpy as np
import pytest
from helpers import Still, glide, make_task, push_right
from test_vector_env import run

from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.policy import random_policy
from crisptree.envs.process_envs import ProcessEnvs
from crisptree.envs.task import task_of


@pytest.mark.parametrize(
    ("env_id", "policy"), [("CartPole-v1", push_right), ("LunarLander-v3", glide)]
)
def test_processes_give_the_bytes_that_one_process_gives(env_id, policy):
    """Three environments over two processes, through several episodes."""
    alone = run(GymnasiumEnvs, env_id, policy, 3, 150)
    shared = run(lambda task, n: ProcessEnvs(task, n, 2), env_id, policy, 3, 150)
    assert alone[0].tobytes() == shared[0].tobytes()
    for part, same in zip(alone[1], shared[1], strict=True):
        assert part.dtype == same.dtype
        assert part.tobytes() == same.tobytes()
    assert (alone[1].terminated | alone[1].truncated).any()


@pytest.mark.parametrize(
    "task",
    [
        make_task(gymnasium.spaces.Discrete(5), gymnasium.spaces.MultiDiscrete([2, 3])),
        make_task(gymnasium.spaces.Discrete(5), gymnasium.spaces.Box(-1, 1, (2, 1))),
    ],
    ids=["several", "real"],
)
def test_other_actions_and_what_only_this_program_knows(task):
    """The task's factory is a function of this file, which travels."""
    found = []
    for envs in (GymnasiumEnvs(task, 3), ProcessEnvs(task, 3, 2)):
        policy = random_policy(task, 0)
        observation, rows = envs.reset(5), []
        for _ in range(12):
            at = envs.step(policy.act(observation))
            observation = at.observation
            rows.append(at.terminated)
        envs.close()
        found.append((observation, np.stack(rows)))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_a_team_is_shared_out_by_environments():
    task = task_of("crisptree/Wildfire-v0")
    envs = ProcessEnvs(task, 3, 2)
    assert envs.reset(0).shape == (6, 6)
    assert envs.step(np.zeros(6, np.int64)).valid.all()
    envs.close()


def test_a_second_reset_starts_all_over_and_steps_are_kept():
    envs = ProcessEnvs(task_of("CartPole-v1"), 2, 8)  # more processes than environments
    first = envs.reset(5)
    kept = envs.step(np.ones(2, np.int64))
    before = kept.observation.copy()
    envs.step(np.ones(2, np.int64))
    np.testing.assert_array_equal(kept.observation, before)  # not overwritten
    assert envs.reset(5).tobytes() == first.tobytes()
    envs.close()
    envs.close()  # again does no harm


class OnlyHere(Still):
    def __init__(self, pid: int) -> None:
        super().__init__()
        if os.getpid() != pid:
            raise RuntimeError("not in another process")


def test_what_cannot_be_made_elsewhere_is_stepped_here(monkeypatch):
    from crisptree.envs import vector_env

    monkeypatch.setattr(vector_env, "SHARING_COSTS", 0.0)
    monkeypatch.setattr(vector_env, "sharing_pays", lambda *sizes: True)
    task = task_of(OnlyHere, {"pid": os.getpid()})
    assert isinstance(vector_env.vector_env(task, 2, n_threads=2), GymnasiumEnvs)
    envs = vector_env.vector_env(task_of(Still), 2, n_threads=2)
    assert isinstance(envs, ProcessEnvs)
    envs.close()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().split()[2] != "Z"


@pytest.mark.skipif(not os.path.exists("/proc"), reason="looks at processes as Linux shows them")
def test_processes_end_with_a_parent_that_is_killed(tmp_path):
    """A script without `if __name__ == "__main__"`, killed in the middle of a step."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, signal, time
        import gymnasium, numpy as np
        from crisptree.envs.process_envs import ProcessEnvs
        from crisptree.envs.task import task_of

        class Slow(gymnasium.Env):
            observation_space = gymnasium.spaces.Box(-1, 1, (1,))
            action_space = gymnasium.spaces.Discrete(2)
            def reset(self, *, seed=None, options=None):
                return np.zeros(1, np.float32), {}
            def step(self, action):
                time.sleep(0.2)
                return np.zeros(1, np.float32), 0.0, False, False, {}

        envs = ProcessEnvs(task_of(Slow), 2, 2)
        envs.reset(0)
        print(*(process.pid for process in envs._envs.processes), flush=True)
        envs.send(np.zeros(2, int))
        os.kill(os.getpid(), signal.SIGKILL)
        """)
    )
    done = subprocess.run(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    until = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_running, pids))
