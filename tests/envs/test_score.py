import gymnasium
import numpy as np
import pytest

from crisptree.crisp import CrispTree
from crisptree.envs import score
from crisptree.envs.score import play, quick_play, random_return
from crisptree.envs.spaces import describe

TASK = describe("CartPole-v1")
CLUMSY = CrispTree.from_nested(
    ("pole angle", 0.01, "push right", ("pole angular velocity", 0.3, "push right", "push left")),
    TASK.feature_names,
    TASK.action_names,
)
SEEDS = [3, 1, 4, 15, 92, 65, 35, 89]


def plain_return(policy: CrispTree, env_id: str, seed: int) -> float:
    """One episode as anyone would write it."""
    env = gymnasium.make(env_id)
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        action, _ = policy.predict(observation)
        observation, reward, terminated, truncated, _ = env.step(int(action))
        total += float(reward)
        over = terminated or truncated
    env.close()
    return total


@pytest.fixture(scope="module")
def plain() -> list[float]:
    returns = [plain_return(CLUMSY, "CartPole-v1", seed) for seed in SEEDS]
    assert len(set(returns)) > 4  # seeds matter
    return returns


@pytest.mark.parametrize("side_by_side", [1, 3, 8, 64])
def test_returns_are_those_of_a_plain_loop(plain, monkeypatch, side_by_side):
    """However many episodes run at once, in gymnasium or in NumPy."""
    assert play(CLUMSY, "CartPole-v1", SEEDS).tolist() == plain
    monkeypatch.setattr(score, "plays_in_rows", lambda _: False)
    monkeypatch.setattr(score, "SIDE_BY_SIDE", side_by_side)
    assert play(CLUMSY, "CartPole-v1", SEEDS).tolist() == plain


def test_a_return_depends_on_its_seed_alone(plain):
    order = [5, 2, 7, 0, 1, 6, 4, 3, 5, 5]
    returns = play(CLUMSY, "CartPole-v1", [SEEDS[i] for i in order])
    assert returns.tolist() == [plain[i] for i in order]
    assert play(CLUMSY, "CartPole-v1", SEEDS[4:5]).tolist() == plain[4:5]


def test_every_finished_episode_is_reported(plain, monkeypatch):
    finished: list[int] = []
    play(CLUMSY, "CartPole-v1", SEEDS, report=finished.append)
    assert finished == sorted({(np.array(plain) <= length).sum() for length in plain})
    finished.clear()
    monkeypatch.setattr(score, "plays_in_rows", lambda _: False)
    monkeypatch.setattr(score, "SIDE_BY_SIDE", 3)
    play(CLUMSY, "CartPole-v1", SEEDS, report=finished.append)
    assert finished == list(range(1, 9))


def test_lunar_lander_is_the_same_alone_and_side_by_side():
    """Its physics draws random numbers at every step, from the episode's own seed."""
    task = describe("LunarLander-v3")
    policy = CrispTree.from_nested(
        ("vertical velocity", -0.3, "do nothing", "fire main engine"),
        task.feature_names,
        task.action_names,
    )
    alone = [plain_return(policy, "LunarLander-v3", seed) for seed in (7, 8, 9)]
    assert play(policy, "LunarLander-v3", [7, 8, 9]).tolist() == alone


class Countdown(gymnasium.Env):
    """Five steps whose rewards are the actions, which start at -1."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1, 2), np.float32)
    action_space = gymnasium.spaces.Discrete(3, start=-1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return np.zeros((1, 2), np.float32), {}

    def step(self, action):
        assert action in self.action_space
        self.left -= 1
        return np.full((1, 2), self.left, np.float32), float(action), self.left == 0, False, {}


@pytest.fixture
def countdown(monkeypatch) -> str:
    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
    gymnasium.register("Countdown-v0", entry_point=Countdown)
    return "Countdown-v0"


def test_actions_are_counted_from_the_first_one_and_observations_are_flat(countdown):
    policy = CrispTree.from_nested(("b", 2.5, "up", "down"), ("a", "b"), ("down", "stay", "up"))
    # the first observation is 0, then 4, 3, 2, 1 are left: down, up, up, down, down
    assert play(policy, countdown, [0, 1]).tolist() == [-1, -1]
    assert quick_play(policy, countdown, 0, 2).tolist() == [-1, -1]


def test_random_actions(countdown):
    """Five of -1, 0 and 1 a step: 0 on average, with a standard error of 0.23 over 64 episodes."""
    earned = random_return(countdown, seed=0)
    assert abs(earned) < 0.8
    assert earned == random_return(countdown, seed=0) != random_return(countdown, seed=1)


def test_quick_play_is_as_long_as_the_real_one_and_reproducible():
    """Through envpool: other episodes, the same distribution."""
    quick = quick_play(CLUMSY, "CartPole-v1", 0, 60)
    assert quick.tolist() == quick_play(CLUMSY, "CartPole-v1", 0, 60).tolist()
    real = play(CLUMSY, "CartPole-v1", range(60))
    error = np.sqrt((quick.var() + real.var()) / 60)
    assert abs(quick.mean() - real.mean()) < 3 * error


def test_a_team_earns_the_same_in_one_compiled_step(monkeypatch):
    """The short cut for our own simulators gives the returns of one environment a seed."""
    task = describe("crisptree/Wildfire-v0")
    tree = CrispTree.from_nested((0, 0.0, 0, (3, 1.0, 2, 3)), task.feature_names, task.action_names)
    quick = play(tree, "crisptree/Wildfire-v0", range(5, 9))
    monkeypatch.setattr(score, "is_functional", lambda _: False)
    assert play(tree, "crisptree/Wildfire-v0", range(5, 9)).tolist() == quick.tolist()
    assert len(set(quick.tolist())) == 4
