"""A peer that speaks s2clientprotocol as the game does, with our simulator behind it.

It takes bytes and gives bytes. It knows nothing of the adapter: units are reported as the game
reports them (only what is in sight, no enemy's cooldown), and raw commands become orders.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.utils.seeding import np_random
from s2clientprotocol import sc2api_pb2 as api

from crisptree.envs.seeded_episodes import compiled, seed_key
from crisptree.envs.zerglings.codec import ATTACK, KEEP, MOVE, Orders
from crisptree.envs.zerglings.env import FindAndDefeatZerglings, view
from crisptree.envs.zerglings.rules import GRAINS, LOOPS_PER_STEP

MARINE_TAG, ZERGLING_TAG = 4_300_000_000, 4_400_000_000


class FakeGame:
    """Answers ping, create_game, join_game, restart_game, leave_game, observation, action, step."""

    def __init__(self, *, late_marines: int = 0, refuses: str = "") -> None:
        self._env = FindAndDefeatZerglings()
        self._begin = compiled(self._env).begin
        self._late, self._refuses = late_marines, refuses
        self._seat: Any = None  # an episode, once one has begun
        self._score, self._answer = 0, b""
        self._status = api.launched
        self.seen: list[str] = []
        self.commands: list[api.RequestAction] = []
        self.closed = False

    async def send_bytes(self, message: bytes) -> None:
        request = api.Request.FromString(message)
        name = str(request.WhichOneof("request"))
        self.seen.append(name)
        response = api.Response()
        getattr(response, name).SetInParent()
        if name == self._refuses:
            response.error.append("no")
        else:
            getattr(self, f"_{name}")(getattr(request, name), response)
        response.status = self._status
        self._answer = response.SerializeToString()

    async def receive_bytes(self) -> bytes:
        return self._answer

    async def open(self, stack) -> "FakeGame":
        stack.callback(setattr, self, "closed", True)
        return self

    def _create_game(self, request, response) -> None:
        assert request.local_map.map_path == "mini_games/FindAndDefeatZerglings.SC2Map"
        assert self._status == api.launched
        self._rng = np_random(request.random_seed if request.HasField("random_seed") else None)[0]
        self._status = api.init_game

    def _join_game(self, request, response) -> None:
        assert request.options.raw and request.options.score
        self._start(seed_key(self._rng))

    def _restart_game(self, request, response) -> None:
        self._start(self._seat.key)

    def _leave_game(self, request, response) -> None:
        self._status = api.launched

    def _start(self, key) -> None:
        self._seat, _ = self._begin(key)
        self._score, self._status, self._setting_up = 0, api.in_game, self._late
        self._forget_orders()

    def _forget_orders(self) -> None:
        self._kind = np.full(3, KEEP)
        self._xy, self._target = np.zeros((2, 3), np.int32), np.full(3, -1)

    def _action(self, request, response) -> None:
        self.commands.append(request)
        for action in request.actions:
            command = action.action_raw.unit_command
            (tag,) = command.unit_tags
            row = tag - MARINE_TAG
            if command.HasField("target_world_space_pos"):
                assert command.ability_id == 16
                place = command.target_world_space_pos
                self._kind[row] = MOVE
                self._xy[:, row] = round(place.x * GRAINS), round(place.y * GRAINS)
            else:
                assert command.ability_id == 23
                self._kind[row] = ATTACK
                self._target[row] = command.target_unit_tag - ZERGLING_TAG
            response.action.result.append(1)

    def _step(self, request, response) -> None:
        if self._setting_up:
            self._setting_up -= request.count
            return
        assert request.count == LOOPS_PER_STEP
        orders = Orders(*map(jnp.asarray, (self._kind, self._xy, self._target)))
        self._seat, at = advance(self._seat, orders)
        self._score += int(at.reward[0])
        self._forget_orders()

    def _observation(self, request, response) -> None:
        about = response.observation.observation
        about.game_loop, about.score.score = int(self._seat.state.loops), self._score
        if self._setting_up:
            return
        state, in_sight = jax.device_get((self._seat.state, look(self._seat.state)))
        for row, health in enumerate(state.marines.health):
            if health > 0:
                unit = _unit(about, state.marines.xy[:, row], health, MARINE_TAG + row)
                unit.alliance, unit.unit_type, unit.health_max = 1, 48, 45
                unit.weapon_cooldown = float(state.marines.cooldown[row])
        for column, health in enumerate(state.zerglings.health):
            if health > 0 and in_sight[column]:
                unit = _unit(about, state.zerglings.xy[:, column], health, ZERGLING_TAG + column)
                unit.alliance, unit.unit_type, unit.health_max = 4, 105, 35
        if not (state.marines.health > 0).any():
            response.observation.player_result.add(player_id=1, result=2)
            self._status = api.ended


def _unit(about, xy, health, tag):
    unit = about.raw_data.units.add(display_type=1, tag=tag, health=float(health))
    unit.pos.x, unit.pos.y = float(xy[0]) / GRAINS, float(xy[1]) / GRAINS
    return unit


@jax.jit
def look(state):
    return view(state.marines, state.zerglings).visible


@jax.jit
def advance(seat, orders):
    key, for_step = jax.random.split(seat.key)
    at = FindAndDefeatZerglings().advance(for_step, seat.state, orders)
    return seat._replace(key=key, state=at.state), at
