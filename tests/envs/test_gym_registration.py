import subprocess
import sys

import gymnasium as gym

from crisptree.envs import gym_registration


def test_registering_loads_no_jax():
    code = (
        "import sys, gymnasium, crisptree.envs.gym_registration as g; "
        "assert 'jax' not in sys.modules; assert g.WILDFIRE in gymnasium.registry"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ids_make_environments_with_their_parameters():
    env = gym.make(gym_registration.WILDFIRE, horizon=7, flags="fire")
    env.reset(seed=0)
    steps = 1
    while not env.step([4, 4])[3]:
        steps += 1
    assert steps == 7
    assert gym.make(gym_registration.ZERGLINGS).observation_space.shape == (3, 37)
    assert gym.make_vec(gym_registration.ZERGLINGS, num_envs=2).num_envs == 2
