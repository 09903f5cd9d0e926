"""Simple policies for the two multi-agent domains: what a learned tree is measured against.

Each maps a key and the agents' observations `(agents, features)` to their actions. All but
`coordinated` treat every row alike and on its own, as a tree does.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.wildfire.env import Wildfire
from crisptree.envs.zerglings import ACTION_NAMES as ZERGLINGS_ACTIONS
from crisptree.envs.zerglings import FEATURE_NAMES as ZERGLINGS_FEATURES

Policy = Callable[[Key[Array, ""], Float[Array, "agents F"]], Int[Array, " agents"]]

DRONE_NORTH, DRONE_EAST, DRONE_SOUTH, DRONE_WEST, DRONE_NOTHING = range(5)
NORTH, EAST, WEST, SOUTH, ATTACK_NEAREST = range(5)
NOTHING = ZERGLINGS_ACTIONS.index("nothing")
OWN_X, OWN_Y = ZERGLINGS_FEATURES.index("own x"), ZERGLINGS_FEATURES.index("own y")
ENEMY_HEALTH = ZERGLINGS_FEATURES.index("enemy 1 health")


def uniform(n_actions: int) -> Policy:
    """Any action, each as likely."""
    return lambda key, observation: jax.random.randint(key, observation.shape[:1], 0, n_actions)


# Wildfire


def nearest_fire(key: Key[Array, ""], observation: Float[Array, "2 6"]) -> Int[Array, " 2"]:
    """To the fire that is nearer to this drone."""
    return _fly(_chosen(observation, jnp.argmin(_distances(observation), axis=1)))


def north_west(key: Key[Array, ""], observation: Float[Array, "2 6"]) -> Int[Array, " 2"]:
    """The same without ever flying south or east: what the paper's trees do."""
    offset = _chosen(observation, jnp.argmin(_distances(observation), axis=1))
    return _fly(jnp.maximum(offset, 0.0))


def coordinated(key: Key[Array, ""], observation: Float[Array, "2 6"]) -> Int[Array, " 2"]:
    """One fire for each drone, with the least sum of distances. Sees both rows at once."""
    distance = _distances(observation)
    straight = distance[0, 0] + distance[1, 1] <= distance[0, 1] + distance[1, 0]
    fire = jnp.where(straight, jnp.array([0, 1]), jnp.array([1, 0]))
    return _fly(_chosen(observation, fire))


def _distances(observation: Float[Array, "2 6"]) -> Float[Array, "2 2"]:
    return jnp.linalg.norm(observation.reshape(2, 2, 3)[..., :2], axis=-1)


def _chosen(observation: Float[Array, "2 6"], fire: Int[Array, " 2"]) -> Float[Array, "2 2"]:
    """How far north and west each drone's fire is."""
    return observation.reshape(2, 2, 3)[jnp.arange(2), fire, :2]


def _fly(offset: Float[Array, "2 2"]) -> Int[Array, " 2"]:
    """Along the longer of the two legs; nothing where no step would bring it nearer."""
    north, west = offset[:, 0], offset[:, 1]
    along_north = jnp.where(north > 0, DRONE_NORTH, DRONE_SOUTH)
    along_west = jnp.where(west > 0, DRONE_WEST, DRONE_EAST)
    action = jnp.where(jnp.abs(north) >= jnp.abs(west), along_north, along_west)
    there = jnp.max(jnp.abs(offset), axis=1) < Wildfire.drone_step / 2
    return jnp.where(there, DRONE_NOTHING, action)


# FindAndDefeatZerglings


def idle(key: Key[Array, ""], observation: Float[Array, "3 37"]) -> Int[Array, " 3"]:
    """Give no orders."""
    return jnp.full(3, NOTHING)


def attack_else_south_west(
    key: Key[Array, ""], observation: Float[Array, "3 37"]
) -> Int[Array, " 3"]:
    """Attack what is seen; else all go south or all go west, at random."""
    move = jnp.where(jax.random.bernoulli(key), SOUTH, WEST)
    return jnp.where(_sees(observation), ATTACK_NEAREST, move)


def attack_else_patrol(key: Key[Array, ""], observation: Float[Array, "3 37"]) -> Int[Array, " 3"]:
    """Attack what is seen; else walk round the arena against the clock, 7 from its edge."""
    x, y = observation[:, OWN_X], observation[:, OWN_Y]
    at_south, at_east, at_north = y < -9.0, x >= 15.0, y >= 9.0
    move = jnp.where(
        at_south & ~at_east,
        EAST,
        jnp.where(at_east & ~at_north, NORTH, jnp.where(at_north & (x > -15.0), WEST, SOUTH)),
    )
    return jnp.where(_sees(observation), ATTACK_NEAREST, move)


def _sees(observation: Float[Array, "3 37"]) -> Bool[Array, " 3"]:
    return observation[:, ENEMY_HEALTH] > 0


WILDFIRE: dict[str, Policy] = {
    "random": uniform(5),
    "nearest fire": nearest_fire,
    "north and west only": north_west,
    "coordinated": coordinated,
}
ZERGLINGS: dict[str, Policy] = {
    "nothing": idle,
    "random": uniform(10),
    "attack, else south-west": attack_else_south_west,
    "attack, else patrol": attack_else_patrol,
}


def returns(
    env: FunctionalEnv, policy: Policy, key: Key[Array, ""], *, episodes: int, steps: int
) -> Float[Array, " episodes"]:
    """The team's return of each episode, played for at most `steps` steps."""

    def episode(key: Key[Array, ""]) -> Float[Array, ""]:
        for_reset, for_steps = jax.random.split(key)
        state, observation = env.reset(for_reset)

        def step(carry: Any, key: Key[Array, ""]) -> tuple[Any, Float[Array, ""]]:
            state, observation, over = carry
            for_policy, for_env = jax.random.split(key)
            at = env.step(for_env, state, policy(for_policy, observation))
            reward = jnp.where(over, 0.0, at.reward[0])
            return (at.state, at.observation, over | at.truncated | at.terminated.all()), reward

        start = state, observation, jnp.asarray(False)
        _, rewards = jax.lax.scan(step, start, jax.random.split(for_steps, steps))
        return jnp.sum(rewards)

    return jax.jit(jax.vmap(episode))(jax.random.split(key, episodes))
