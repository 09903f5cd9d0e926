import gymnasium
import pytest

from crisptree.envs.names import ACTIONS, FEATURES, action_names, feature_names


# Box2D is built with SWIG, whose types warn on import; as an error that ends the process.
@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")
@pytest.mark.parametrize(
    "env_id", ["CartPole-v1", "Acrobot-v1", "MountainCar-v0", "LunarLander-v3"]
)
def test_as_many_names_as_the_environment_has(env_id):
    env = gymnasium.make(env_id)
    n_features, n_actions = env.observation_space.shape[0], int(env.action_space.n)
    env.close()
    bare = env_id[:-3]
    assert feature_names(env_id, n_features) == FEATURES[bare]
    assert action_names(env_id, n_actions) == ACTIONS[bare]


def test_names_differ():
    for names in [*FEATURES.values(), *ACTIONS.values()]:
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("env_id", ["CartPole-v0", "some.module:CartPole-v1", "phys2d/CartPole-v1"])
def test_versions_modules_and_namespaces_change_nothing(env_id):
    assert feature_names(env_id, 4)[2] == "pole angle"
    assert action_names(env_id, 2) == ("push left", "push right")


@pytest.mark.parametrize("env_id", [None, "", "Unknown-v0", "CartPole-v1"])
def test_numbers_where_no_names_are_known(env_id):
    assert feature_names(env_id, 3) == ("x0", "x1", "x2")
    assert action_names(env_id, 3) == ("action 0", "action 1", "action 2")
