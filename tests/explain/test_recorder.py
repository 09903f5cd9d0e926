import sys

import gymnasium as gym
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.names import action_names, feature_names
from crisptree.envs.score import play
from crisptree.explain.recorder import record

CART_POLE = CrispTree.from_nested(
    (2, 0.0, 0, 1), feature_names("CartPole-v1", 4), action_names("CartPole-v1", 2)
)


def test_what_is_recorded_is_what_is_played():
    recording = record(CART_POLE, "CartPole-v1", episodes=2, seed=5)
    seeds = [episode.seed for episode in recording.episodes]
    returns = [episode.rewards.sum() for episode in recording.episodes]
    assert returns == play(CART_POLE, "CartPole-v1", seeds).tolist()
    for episode in recording.episodes:
        steps = len(episode.rewards)
        assert episode.observations.shape == (steps + 1, 1, 4)
        assert episode.observations.dtype == np.float32
        assert episode.video is not None
        assert episode.video.length == steps + 1 and episode.video.width == 600
        assert episode.ended in ("terminated", "was truncated")
    assert recording.fps == 50 and recording.note == ""


def test_the_same_seed_gives_the_same_video():
    first, second = (record(CART_POLE, "CartPole-v1", episodes=1) for _ in range(2))
    videos = [recording.episodes[0].video for recording in (first, second)]
    assert videos[0] is not None and videos[1] is not None
    assert videos[0].chunks == videos[1].chunks
    other = record(CART_POLE, "CartPole-v1", episodes=1, seed=1)
    assert other.episodes[0].seed != first.episodes[0].seed


def test_pictures_are_the_environment_s():
    recording = record(CART_POLE, "CartPole-v1", episodes=1)
    env = gym.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=recording.episodes[0].seed)
    video = recording.episodes[0].video
    assert video is not None
    first = video.palette[next(iter(video.frames()))]
    assert np.abs(first.astype(int) - np.asarray(env.render()).astype(int)).max() < 8
    env.close()


class Blind(gym.Env):
    """An environment without pictures, whose actions start at one and whose episodes never end."""

    metadata = {"render_modes": []}  # noqa: RUF012  as gymnasium has it
    observation_space = gym.spaces.Box(0, 2, (2, 2), np.float32)
    action_space = gym.spaces.Discrete(2, start=1)

    def reset(self, *, seed=None, options=None):
        return np.zeros((2, 2), np.float32), {}

    def step(self, action):
        return np.full((2, 2), action, np.float32), float(action), False, False, {}


gym.register("Blind-v0", lambda **_: Blind())
TWO = CrispTree.from_nested((0, 1.5, 0, 1), "abcd", ("one", "two"))


def test_without_pictures_and_without_end(monkeypatch):
    monkeypatch.setattr(sys.modules["crisptree.explain.recorder"], "MOST_STEPS", 7)
    recording = record(TWO, "Blind-v0", episodes=1)
    (episode,) = recording.episodes
    assert episode.video is None and episode.ended == "was cut"
    assert episode.rewards.tolist() == [2, 1, 2, 1, 2, 1, 2]
    assert recording.note == "No pictures: Blind-v0 draws none."


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (TWO, "the policy has 4 features and 2 actions, 'MountainCar-v0' has 2 and 3"),
        (CrispTree.leaf(0, "ab", ("x",)), "2 features and 1 actions, 'MountainCar-v0' has 2 and 3"),
    ],
)
def test_another_shape(tree, message):
    with pytest.raises(CrisptreeError, match=message):
        record(tree, "MountainCar-v0", episodes=1)


def test_no_such_environment():
    with pytest.raises(CrisptreeError, match="no environment 'None-v0'"):
        record(TWO, "None-v0", episodes=1)


class Pair(gym.Env):
    """Two agents with one policy, each told who it is."""

    metadata = {"render_modes": []}  # noqa: RUF012  as gymnasium has it
    observation_space = gym.spaces.Box(0, 2, (2, 3), np.float32)
    action_space = gym.spaces.MultiDiscrete([2, 2])

    def reset(self, *, seed=None, options=None):
        return np.array([[0, 0, 0], [1, 0, 0]], np.float32), {}

    def step(self, action):
        told = np.array([[0, 0, 0], [1, 0, 0]], np.float32)
        return told, float(list(action) == [0, 1]), True, False, {}


gym.register("Pair-v0", lambda **_: Pair())


def test_a_team():
    tree = CrispTree.from_nested((0, 0.5, 1, 0), "abc", ("zero", "one"))
    (episode,) = record(tree, "Pair-v0", episodes=1).episodes
    assert episode.observations.shape == (2, 2, 3) and episode.rewards.tolist() == [1.0]
