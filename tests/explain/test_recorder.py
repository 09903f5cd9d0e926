import gymnasium as gym
import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.rollout import rollout
from crisptree.envs.task import task_of
from crisptree.explain.recorder import record

CART_POLE_TASK = task_of("CartPole-v1")
CART_POLE = CrispTree.from_nested((2, 0.0, 0, 1), CART_POLE_TASK.feature_names, ("left", "right"))


def test_what_is_recorded_is_what_is_played():
    recording = record(CART_POLE, CART_POLE_TASK, episodes=2, seed=5)
    seeds = [episode.seed for episode in recording.episodes]
    returns = [episode.rewards.sum() for episode in recording.episodes]
    assert returns == rollout([CART_POLE], CART_POLE_TASK, seeds).returns[0].tolist()
    for episode in recording.episodes:
        steps = len(episode.rewards)
        assert episode.observations.shape == (steps + 1, 1, 4)
        assert episode.observations.dtype == np.float32
        assert episode.video is not None
        assert episode.video.length == steps + 1 and episode.video.width == 600
        assert episode.ended in ("terminated", "was truncated")
    assert recording.fps == 50 and recording.note == ""


def test_the_same_seed_gives_the_same_video():
    first, second = (record(CART_POLE, CART_POLE_TASK, episodes=1) for _ in range(2))
    videos = [recording.episodes[0].video for recording in (first, second)]
    assert videos[0] is not None and videos[1] is not None
    assert videos[0].chunks == videos[1].chunks
    other = record(CART_POLE, CART_POLE_TASK, episodes=1, seed=1)
    assert other.episodes[0].seed != first.episodes[0].seed


def test_pictures_are_the_environment_s():
    recording = record(CART_POLE, CART_POLE_TASK, episodes=1)
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


def test_without_pictures_and_without_end():
    recording = record(TWO, task_of("Blind-v0"), episodes=1, max_steps=7)
    (episode,) = recording.episodes
    assert episode.video is None and episode.ended == "was cut"
    assert episode.rewards.tolist() == [2, 1, 2, 1, 2, 1, 2]
    assert recording.note == "No pictures: Blind-v0 draws none."


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
    (episode,) = record(tree, task_of("Pair-v0"), episodes=1).episodes
    assert episode.observations.shape == (2, 2, 3) and episode.rewards.tolist() == [1.0]


class Leaving(gym.Env):
    """The second agent is out after the first of three steps."""

    metadata = {"render_modes": []}  # noqa: RUF012  as gymnasium has it
    observation_space = gym.spaces.Box(0, 4, (2, 3), np.float32)
    action_space = gym.spaces.MultiDiscrete([2, 2])

    def reset(self, *, seed=None, options=None):
        self._step = 0
        return np.zeros((2, 3), np.float32), {}

    def step(self, action):
        self._step += 1
        told = np.full((2, 3), self._step, np.float32)
        return told, 1.0, self._step == 3, False, {"alive": np.array([True, False])}


gym.register("Leaving-v0", lambda **_: Leaving())


def test_an_agent_that_is_out_stays_where_it_was_and_decides_nothing():
    tree = CrispTree.from_nested((0, 0.5, 1, 0), "abc", ("zero", "one"))
    recording = record(tree, task_of("Leaving-v0"), episodes=1)
    (episode,) = recording.episodes
    assert episode.observations[:, 0, 0].tolist() == [0, 1, 2, 3]
    assert episode.observations[:3, 1, 0].tolist() == [0, 0, 0]
    assert len(recording.states) == 3 + 1 and episode.rewards.tolist() == [1, 1, 1]


class Push(gym.Env):
    """A number to be kept near zero by pushing it."""

    metadata = {"render_modes": []}  # noqa: RUF012  as gymnasium has it
    observation_space = gym.spaces.Box(-9, 9, (1,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        self._at, self._left = np.ones(1, np.float32), 4
        return self._at, {}

    def step(self, action):
        assert action.dtype == np.float32 and action.shape == (1,)
        self._at, self._left = self._at + action, self._left - 1
        return self._at, -float(abs(self._at[0])), self._left == 0, False, {}


gym.register("Push-v0", lambda **_: Push())


def test_real_numbers():
    task = task_of("Push-v0")
    tree = CrispTree.leaf([(0.0, {task.feature_names[0]: -0.5})], **task.signature)
    (episode,) = record(tree, task, episodes=1).episodes
    assert episode.observations[:, 0, 0].tolist() == [1.0, 0.5, 0.25, 0.125, 0.0625]
    assert episode.rewards.tolist() == [-0.5, -0.25, -0.125, -0.0625]


class Colourless(Push):
    """It says that it draws, and does not."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012  as gymnasium has it

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def render(self):
        raise ImportError("no library to draw with")


gym.register("Colourless-v0", lambda **given: Colourless(**given))


def test_an_environment_that_cannot_draw_is_played_without_pictures():
    task = task_of("Colourless-v0")
    tree = CrispTree.leaf([0.5], **task.signature)
    recording = record(tree, task, episodes=1)
    assert recording.episodes[0].video is None and len(recording.episodes[0].rewards) == 4
    assert recording.note.startswith("No pictures: ") and "no library" in recording.note
