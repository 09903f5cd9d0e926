import gymnasium
import numpy as np
import pytest
from test_host import glide, push_right, run

from crisptree.base.errors import CrisptreeError
from crisptree.envs import host
from crisptree.envs.host import EnvpoolEnvs, GymnasiumEnvs, host_envs, threads
from crisptree.envs.workers import WorkerEnvs


@pytest.mark.parametrize(
    ("env_id", "policy"), [("CartPole-v1", push_right), ("LunarLander-v3", glide)]
)
def test_processes_give_the_bytes_that_one_process_gives(env_id, policy):
    """Three environments over two processes, through several episodes."""
    alone = run(GymnasiumEnvs, env_id, policy, 3, 150)
    shared = run(lambda *sizes: WorkerEnvs(*sizes, 2), env_id, policy, 3, 150)
    assert alone[0].tobytes() == shared[0].tobytes()
    for part, same in zip(alone[1], shared[1], strict=True):
        assert part.dtype == same.dtype
        assert part.tobytes() == same.tobytes()
    assert (alone[1].terminated | alone[1].truncated).any()


def test_threads_of_envpool_give_the_bytes_that_one_thread_gives():
    alone = run(EnvpoolEnvs, "LunarLander-v3", glide, 5, 150)
    shared = run(lambda *sizes: EnvpoolEnvs(*sizes, 2), "LunarLander-v3", glide, 5, 150)
    for part, same in zip((alone[0], *alone[1]), (shared[0], *shared[1]), strict=True):
        assert part.tobytes() == same.tobytes()


def test_a_second_reset_starts_all_over_and_steps_are_kept():
    envs = WorkerEnvs("CartPole-v1", 2, 8)  # more workers than environments
    first = envs.reset(5)
    kept = envs.step(np.ones(2, np.int64))
    before = kept.observation.copy()
    envs.step(np.ones(2, np.int64))
    np.testing.assert_array_equal(kept.observation, before)  # not overwritten
    assert envs.reset(5).tobytes() == first.tobytes()
    envs.close()
    assert all(worker.returncode == 0 for worker in envs._workers)
    envs.close()  # again does no harm


def test_an_id_of_this_process_alone_is_refused_and_stepped_here(monkeypatch):
    entry = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"
    gymnasium.register("OnlyHere-v0", entry_point=entry, max_episode_steps=9)
    try:
        with pytest.raises(CrisptreeError, match="module:Id"):
            WorkerEnvs("OnlyHere-v0", 2, 2)
        monkeypatch.setattr(host, "SHARING_COSTS", 0.0)
        envs = host_envs("OnlyHere-v0", 2, n_threads=2)
        assert isinstance(envs, GymnasiumEnvs)
        envs.close()
    finally:
        del gymnasium.registry["OnlyHere-v0"]


def test_work_is_shared_out_where_that_pays(monkeypatch):
    monkeypatch.setattr(host, "envpool_has", lambda env_id: False)
    for costs, n_threads, kind in ((0.0, 2, WorkerEnvs), (0.0, 1, GymnasiumEnvs)):
        monkeypatch.setattr(host, "SHARING_COSTS", costs)
        envs = host_envs("MountainCar-v0", 4, n_threads=n_threads)
        assert isinstance(envs, kind)
        envs.close()
    monkeypatch.setattr(host, "SHARING_COSTS", 100.0)
    assert isinstance(host_envs("MountainCar-v0", 4, n_threads=2), GymnasiumEnvs)


def test_threads_are_as_many_as_allowed(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads() >= 1


def test_pools_in_parts_give_the_bytes_of_one_pool():
    """Both parts have a step under way at once; five environments are three and two."""
    whole = run(EnvpoolEnvs, "LunarLander-v3", glide, 5, 150)
    parts = EnvpoolEnvs("LunarLander-v3", 5, 2).parts()
    seen = [part.reset(5 + first) for part, first in zip(parts, (0, 3), strict=True)]
    assert np.concatenate(seen).tobytes() == whole[0].tobytes()
    for t in range(150):
        for part, observation in zip(parts, seen, strict=True):
            part.send(glide(observation))
        steps = [part.receive() for part in parts]
        for together, alone in zip(zip(*steps, strict=True), whole[1], strict=True):
            assert np.concatenate(together).tobytes() == alone[t].tobytes()
        seen = [step.observation for step in steps]
    for part in parts:
        part.close()


def test_one_thread_or_one_environment_has_no_parts():
    for pool in (EnvpoolEnvs("LunarLander-v3", 4, 1), EnvpoolEnvs("LunarLander-v3", 1, 2)):
        assert pool.parts() == [pool]
