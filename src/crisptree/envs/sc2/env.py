"""FindAndDefeatZerglings in the real game, as the same gymnasium environment as the simulator.

Observations and orders go through the simulator's own encoder and decoder.
"""

from functools import partial
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from s2clientprotocol import common_pb2 as common
from s2clientprotocol import sc2api_pb2 as api

from crisptree.base.errors import CrisptreeError
from crisptree.envs.sc2.install import MAP, check_installed
from crisptree.envs.sc2.link import Link, Opening, launch
from crisptree.envs.sc2.messages import Sighting, commands, marine_tags, read
from crisptree.envs.team import checked_actions, observation_space
from crisptree.envs.zerglings.codec import Encoding, decode, encode, nearest_enemies
from crisptree.envs.zerglings.env import FindAndDefeatZerglings
from crisptree.envs.zerglings.rules import LAST_LOOP, LOOPS_PER_STEP, N_MARINES

LOOPS_TO_SET_UP = 16

_nearest = jax.jit(nearest_enemies)
_decode = jax.jit(decode)


class StarCraftZerglings(gym.Env):
    """Three marines, one policy; `(3, 37)` observations, one of ten actions per marine.

    The game is started by the first `reset`. A seed starts a new game with it; without one the
    game restarts. The reward is the change of the map's own score. The map stops its clock without
    always telling a result, so the episode is also truncated at its last loop.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, encoding: Encoding = "paper", opening: Opening | None = None) -> None:
        self._twin = FindAndDefeatZerglings(encoding=encoding)
        self.observation_space = observation_space(self._twin, N_MARINES)
        self.action_space = gym.spaces.MultiDiscrete([len(self._twin.action_names)] * N_MARINES)
        self._encode = jax.jit(partial(encode, encoding=encoding))
        if opening is None:
            check_installed()
        self._opening: Opening = launch if opening is None else opening
        self._link: Link | None = None
        self._roster: tuple[int, ...] = ()
        self._last: Sighting | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        try:
            self._last = self._begin(seed)
        except CrisptreeError:
            self.close()
            raise
        return self._observation(self._last)

    def _begin(self, seed: int | None) -> Sighting:
        if self._link is None:
            self._link = Link(self._opening)
            self._new_game(self._link, seed)
        elif seed is not None or self._restart_fails(self._link):
            self._link.ask(leave_game=api.RequestLeaveGame())
            self._new_game(self._link, seed)
        return self._first_sight(self._link)

    def _new_game(self, link: Link, seed: int | None) -> None:
        game = api.RequestCreateGame(
            local_map=api.LocalMap(map_path=MAP.as_posix()),
            player_setup=[api.PlayerSetup(type=api.Participant)],
            realtime=False,
        )
        if seed is not None:
            game.random_seed = seed % 2**32
        link.ask(create_game=game)
        raw = api.InterfaceOptions(raw=True, score=True)
        link.ask(join_game=api.RequestJoinGame(race=common.Terran, options=raw))

    def _restart_fails(self, link: Link) -> bool:
        """Restart, which is quick; true if the game refuses, as it does after very many loops."""
        answer = link.ask(restart_game=api.RequestRestartGame())
        return answer.restart_game.need_hard_reset

    def _first_sight(self, link: Link) -> Sighting:
        """The map's script may need some loops to put the marines there."""
        for _ in range(LOOPS_TO_SET_UP):
            response = link.ask(observation=api.RequestObservation()).observation
            self._roster = marine_tags(response)
            if len(self._roster) == N_MARINES:
                return read(response, self._roster)
            link.ask(step=api.RequestStep(count=1))
        raise CrisptreeError(
            f"the map shows {len(self._roster)} marines, not {N_MARINES}: is it {MAP.name}?"
        )

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self._link is None or self._last is None:
            raise gym.error.ResetNeeded("no episode is under way: call reset() before step()")
        chosen = checked_actions(self._twin, action, (N_MARINES,))
        view = self._last.view
        orders = _decode(view.marine_xy, _nearest(view), jnp.asarray(chosen))
        alive = np.asarray(view.marine_health) > 0
        request = commands(orders, self._roster, alive, self._last.enemy_tags)
        if request.actions:
            self._link.ask(action=request)
        self._link.ask(step=api.RequestStep(count=LOOPS_PER_STEP))
        response = self._link.ask(observation=api.RequestObservation()).observation
        sighting = read(response, self._roster)
        observation, info = self._observation(sighting)
        reward = float(sighting.score - self._last.score)
        terminated = not info["alive"].any()
        truncated = sighting.loop >= LAST_LOOP or (sighting.over and not terminated)
        self._last = None if terminated or truncated else sighting
        return observation, reward, terminated, truncated, info

    def _observation(self, sighting: Sighting) -> tuple[np.ndarray, dict[str, Any]]:
        view = sighting.view
        alive = np.asarray(view.marine_health) > 0
        return np.asarray(self._encode(view, _nearest(view))), {"alive": alive}

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = self._last = None
