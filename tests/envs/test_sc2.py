from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("s2clientprotocol")
pytest.importorskip("sc2")

from fake_starcraft import MARINE_TAG, ZERGLING_TAG, FakeGame

import crisptree.envs.gym_registration  # noqa: F401
from crisptree.base.errors import CrisptreeError
from crisptree.envs.joint import zerglings
from crisptree.envs.sc2.env import StarCraftZerglings
from crisptree.envs.scripted import attack_else_patrol


@pytest.fixture
def starcraft():
    """`StarCraftZerglings` over a fake game; closed after the test."""
    made = []

    def make(game: FakeGame) -> StarCraftZerglings:
        made.append(StarCraftZerglings(opening=game.open))
        return made[-1]

    yield make
    for env in made:
        env.close()


def play_both(policy, seed: int, steps: int = 400):
    """The same actions in the simulator and through the adapter; what each told."""
    native, game = zerglings(), FakeGame()
    through = StarCraftZerglings(opening=game.open)
    a, b = native.reset(seed=seed), through.reset(seed=seed)
    np.testing.assert_array_equal(a[0], b[0])
    total = [0.0, 0.0]
    ours: Any = None
    for _ in range(steps):
        ours, theirs = native.step(policy(a[0])), through.step(policy(b[0]))
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[4]["alive"], theirs[4]["alive"])
        assert ours[1:4] == theirs[1:4]
        total[0] += ours[1]
        total[1] += theirs[1]
        a, b = ours, theirs
        if ours[2] or ours[3]:
            break
    through.close()
    assert game.closed
    return total, ours, game


def test_a_patrol_gets_the_same_through_the_adapter_as_natively():
    act = jax.jit(lambda seen: attack_else_patrol(jax.random.key(0), seen))
    (ours, theirs), last, game = play_both(lambda seen: np.asarray(act(jnp.asarray(seen))), seed=5)
    assert ours == theirs > 10
    assert last[3] or last[2]
    assert {"create_game", "join_game", "observation", "action", "step"} <= set(game.seen)


def test_random_marines_die_the_same_death():
    rng = np.random.default_rng(3)
    actions = iter(rng.integers(0, 10, (400, 3)).repeat(2, axis=0))
    (ours, theirs), last, _ = play_both(lambda seen: next(actions), seed=1)
    assert ours == theirs
    assert last[2] and not last[4]["alive"].any()


def test_commands_of_every_action(starcraft):
    game = FakeGame()
    env = starcraft(game)
    observation, _ = env.reset(seed=0)
    enemies = (observation[:, 14::5] > 0).sum()
    assert enemies >= 3  # each marine sees one at least
    x, y = observation[0, :2] + [32, 28]
    wanted = {0: (0, 5), 1: (5, 0), 2: (-5, 0), 3: (0, -5)}
    for action, (dx, dy) in wanted.items():
        env.reset(seed=0)
        env.step([action, 9, 9])
        (command,) = (a.action_raw.unit_command for a in game.commands[-1].actions)
        assert (command.ability_id, list(command.unit_tags)) == (16, [MARINE_TAG])
        place = command.target_world_space_pos
        assert (place.x, place.y) == pytest.approx((x + dx, y + dy))
    env.reset(seed=0)
    env.step([4, 9, 4])
    attacks = [a.action_raw.unit_command for a in game.commands[-1].actions]
    assert [list(c.unit_tags) for c in attacks] == [[MARINE_TAG], [MARINE_TAG + 2]]
    assert all(c.ability_id == 23 and c.target_unit_tag >= ZERGLING_TAG for c in attacks)
    sent = len(game.commands)
    env.reset(seed=0)
    env.step([9, 8, 8])  # nothing, and enemies that are not there
    assert len(game.commands) == sent


def test_without_a_seed_the_game_restarts_and_with_one_it_is_made_anew(starcraft):
    game = FakeGame()
    env = starcraft(game)
    first, _ = env.reset(seed=7)
    env.reset()
    assert game.seen.count("restart_game") == 1 and game.seen.count("create_game") == 1
    again, _ = env.reset(seed=7)
    assert game.seen.count("create_game") == 2
    np.testing.assert_array_equal(first, again)


def test_marines_that_appear_late_are_waited_for(starcraft):
    env = starcraft(FakeGame(late_marines=3))
    observation, info = env.reset(seed=0)
    assert info["alive"].all() and (observation[:, 2] == 1).all()
    with pytest.raises(CrisptreeError, match="0 marines, not 3"):
        starcraft(FakeGame(late_marines=99)).reset()


def test_errors_are_one_clear_line(starcraft):
    env = starcraft(FakeGame(refuses="create_game"))
    with pytest.raises(CrisptreeError, match="refused create_game"):
        env.reset()
    env = starcraft(FakeGame())
    with pytest.raises(gym.error.ResetNeeded):
        env.step([0, 0, 0])
    env.reset(seed=0)
    with pytest.raises(CrisptreeError, match="no action 10"):
        env.step([0, 10, 0])


def test_without_the_game_it_says_what_to_install_and_where(tmp_path, monkeypatch):
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    with pytest.raises(CrisptreeError, match=f"StarCraft II is not at {tmp_path}"):
        gym.make("crisptree/StarCraftZerglings-v0")
    (tmp_path / "Versions" / "Base75689").mkdir(parents=True)
    with pytest.raises(CrisptreeError, match=r"the map is not at .*mini_games"):
        gym.make("crisptree/StarCraftZerglings-v0")
    (tmp_path / "Maps" / "mini_games").mkdir(parents=True)
    (tmp_path / "Maps" / "mini_games" / "FindAndDefeatZerglings.SC2Map").touch()
    assert gym.make("crisptree/StarCraftZerglings-v0").observation_space.shape == (3, 37)
