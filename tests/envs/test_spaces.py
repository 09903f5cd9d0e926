import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from crisptree.base.errors import CrisptreeError
from crisptree.envs.spaces import Task, describe, flat_size, make


class Still(gymnasium.Env):
    """An environment that is nothing but its spaces."""

    def __init__(self, seen: spaces.Space, done: spaces.Space) -> None:
        self.observation_space, self.action_space = seen, done

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


LINE = spaces.Box(-1, 1, (3,), np.float32)
TWO = spaces.Discrete(2)


@pytest.fixture
def still(monkeypatch):
    """Registers spaces under an id, for one test."""
    registry = dict(gymnasium.registry)
    monkeypatch.setattr(gymnasium.envs.registration, "registry", registry)

    def register(seen: spaces.Space, done: spaces.Space, env_id: str = "Still-v0") -> str:
        gymnasium.register(env_id, entry_point=lambda: Still(seen, done))
        return env_id

    return register


def refusal(env_id: str) -> str:
    with pytest.raises(CrisptreeError) as caught:
        describe(env_id)
    message = str(caught.value)
    assert env_id in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "env_id", ["Nowhere-v0", "CartPole-v9", "no/such-thing", "a b", "", "CartPole-v-1"]
)
def test_unknown_ids(env_id):
    assert refusal(env_id).startswith("no environment")


def test_a_module_that_is_not_there():
    assert "nowhere_at_all" in refusal("nowhere_at_all:Thing-v0")


def test_an_environment_that_lacks_its_package(monkeypatch):
    def entry_point():
        raise ImportError("no module named frobnicate")

    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
    gymnasium.register("Lacking-v0", entry_point=entry_point)
    assert "frobnicate" in refusal("Lacking-v0")


@pytest.mark.parametrize(
    ("env_id", "kind"), [("Pendulum-v1", "Box"), ("MountainCarContinuous-v0", "Box")]
)
def test_continuous_actions(env_id, kind):
    assert f"{kind} actions; crisptree needs Discrete" in refusal(env_id)


@pytest.mark.parametrize("done", [spaces.MultiDiscrete([2, 2]), spaces.MultiBinary(3)])
def test_other_actions(still, done):
    assert f"{type(done).__name__} actions" in refusal(still(LINE, done))


@pytest.mark.parametrize(
    "seen",
    [
        spaces.Dict({"a": LINE}),
        spaces.Tuple((LINE, LINE)),
        spaces.Discrete(16),
        spaces.MultiBinary(3),
        spaces.Text(5),
    ],
    ids=lambda space: type(space).__name__,
)
def test_observations_that_are_no_box(still, seen):
    assert f"{type(seen).__name__} observations; crisptree needs a Box" in refusal(still(seen, TWO))


def test_pictures(still):
    pixels = spaces.Box(0, 255, (96, 96, 3), np.uint8)
    assert "27,648 numbers an observation, as pictures have" in refusal(still(pixels, TWO))


def test_what_is_known_of_cart_pole():
    assert describe("CartPole-v1") == Task(
        env_id="CartPole-v1",
        n_features=4,
        n_actions=2,
        feature_names=("cart position", "cart velocity", "pole angle", "pole angular velocity"),
        action_names=("push left", "push right"),
    )


@pytest.mark.parametrize(("shape", "size"), [((), 1), ((3,), 3), ((2, 3), 6), ((0,), 0)])
def test_boxes_of_any_shape_are_counted_flat(still, shape, size):
    env_id = still(spaces.Box(-1, 1, shape, np.float32), spaces.Discrete(5, start=-2))
    env = make(env_id)
    assert flat_size(env) == size
    env.close()
    if size:
        task = describe(env_id)
        assert (task.n_features, task.n_actions) == (size, 5)


def test_a_deprecated_version_is_refused_or_made_in_silence():
    """gymnasium warns of old versions; one that it still makes does not trouble the user."""
    assert "LunarLander-v2" in refusal("LunarLander-v2")
    assert describe("CartPole-v0").n_features == 4


def test_an_id_without_a_version_is_the_latest_and_says_so():
    with pytest.warns(UserWarning, match="CartPole-v1"):
        assert describe("CartPole").feature_names[2] == "pole angle"


def test_an_environment_names_its_own_numbers(still, monkeypatch):
    env_id = still(LINE, TWO)
    assert describe(env_id).feature_names == ("x0", "x1", "x2")
    names = {"feature_names": ["height", "speed", "fuel"], "action_names": ("wait", "burn")}
    monkeypatch.setattr(Still, "metadata", names)
    task = describe(env_id)
    assert task.feature_names == ("height", "speed", "fuel")
    assert task.action_names == ("wait", "burn")


@pytest.mark.parametrize("names", [["height", "speed"], ["height", "speed", "speed"]])
def test_too_few_names_or_two_alike_are_refused(still, monkeypatch, names):
    monkeypatch.setattr(Still, "metadata", {"feature_names": names})
    assert "it needs 3, no two alike" in refusal(still(LINE, TWO))
