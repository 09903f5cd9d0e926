"""Learning in a functional environment: rollout and update are one compiled program."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.envs.functional import FunctionalEnv
from crisptree.learn.agent import Agent, Learner
from crisptree.learn.cache import is_quick, options_for
from crisptree.learn.config import AnyLearning, Learning
from crisptree.learn.improve import improve
from crisptree.learn.kept import Kept
from crisptree.learn.rates import Number, Rates
from crisptree.learn.rollout import Episodes, Rollout, sample_actions


class Scene(NamedTuple):
    """N environments in the middle of their episodes."""

    state: Any
    observation: Float[Array, "N *agents F"]
    alive: Bool[Array, "N *agents"]
    episode_return: Float[Array, " N"]
    running_return: Float[Array, "N *agents"]


def opening(env: FunctionalEnv, config: AnyLearning, key: Key[Array, ""]) -> Scene:
    state, observation = jax.vmap(env.reset)(jax.random.split(key, config.n_envs))
    rows = observation.shape[:-1]
    return Scene(state, observation, jnp.ones(rows, bool), jnp.zeros(rows[0]), jnp.zeros(rows))


def _choose(condition: Bool[Array, " N"], if_true: Any, if_false: Any) -> Any:
    def pick(a, b):
        return jnp.where(condition.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, if_true, if_false)


def collect(
    agent: Learner, scene: Scene, env: FunctionalEnv, config: AnyLearning, gamma: Number
) -> tuple[Scene, Rollout, Episodes]:
    """`n_steps` steps of every environment under the agent's policy."""
    shape = scene.alive.shape
    for_actions, for_steps, for_resets = jax.random.split(jax.random.fold_in(agent.key, 0), 3)
    times = (config.n_steps, config.n_envs)
    randomness = (
        jax.random.uniform(for_actions, (config.n_steps, scene.alive.size)),
        jax.random.split(for_steps, times),
        jax.random.split(for_resets, times),
    )

    def step(scene: Scene, random: tuple):
        uniform, step_keys, reset_keys = random
        rows = scene.observation.reshape(-1, scene.observation.shape[-1])
        action, log_probability = sample_actions(agent.log_policy(rows), uniform)
        at = jax.vmap(env.step)(step_keys, scene.state, action.reshape(shape))

        agents = tuple(range(1, len(shape)))
        over = at.truncated | at.terminated.all(agents)
        over_rows = over.reshape(-1, *(1,) * len(agents))
        team = jnp.where(scene.alive, at.reward, 0.0).sum(agents) / jnp.maximum(
            scene.alive.sum(agents), 1
        )
        episode_return = scene.episode_return + team
        running_return = gamma * scene.running_return + at.reward
        done = at.terminated | over_rows
        seen = Rollout(
            observation=rows,
            action=action,
            log_probability=log_probability,
            reward=at.reward.reshape(-1),
            running_return=running_return.reshape(-1),
            next_observation=at.observation.reshape(rows.shape),
            terminated=at.terminated.reshape(-1),
            done=done.reshape(-1),
            mask=scene.alive.reshape(-1),
        )
        fresh_state, fresh_observation = jax.vmap(env.reset)(reset_keys)
        following = Scene(
            state=_choose(over, fresh_state, at.state),
            observation=_choose(over, fresh_observation, at.observation),
            alive=over_rows | (scene.alive & ~at.terminated),
            episode_return=jnp.where(over, 0.0, episode_return),
            running_return=jnp.where(done, 0.0, running_return),
        )
        return following, (seen, jnp.where(over, episode_return, 0.0).sum(), over.sum())

    scene, (rollout, returns, counts) = jax.lax.scan(step, scene, randomness)
    return scene, rollout, Episodes(returns.sum(), counts.sum().astype(jnp.float32))


def update(
    agent: Agent, scene: Scene, env: FunctionalEnv, config: Learning, rates: Rates
) -> tuple[Agent, Scene, dict[str, Array]]:
    """A rollout and the update on it."""
    scene, rollout, episodes = collect(agent, scene, env, config, rates.gamma)
    agent, metrics = improve(agent, rollout, config, rates)
    return (
        agent,
        scene,
        {
            "return": episodes.total_return / episodes.count,
            "episodes": episodes.count,
            **metrics,
        },
    )


def train(
    agent: Agent, env: FunctionalEnv, config: Learning, n_updates: int, rates: Rates
) -> tuple[Agent, dict[str, Float[Array, " updates"]]]:
    """A whole training as a pure function of the agent (and the key in it) and of its numbers:
    vmap it over seeds, step sizes, or both."""
    scene = opening(env, config, jax.random.fold_in(agent.key, 2))
    dynamic, static = eqx.partition(agent, eqx.is_array)

    def body(carry, _):
        agent, scene, metrics = update(eqx.combine(carry[0], static), carry[1], env, config, rates)
        return (eqx.filter(agent, eqx.is_array), scene), metrics

    (dynamic, _), metrics = jax.lax.scan(body, (dynamic, scene), length=n_updates)
    return eqx.combine(dynamic, static), metrics


@lru_cache(maxsize=32)
def advancing(
    env: FunctionalEnv, config: AnyLearning, most: int, update: Callable = update
) -> Kept:
    """A compiled function `(agents, scenes, n, rates)`: `n <= most` updates of every seed.

    `n` and `rates` are traced, so one program serves every length and every step size; of
    `config` only what `shape_of` leaves counts. Metrics come back as `(most, seeds)`.
    """

    def advance(agents: Learner, scenes: Scene, n: Int[Array, ""], rates: Rates | None):
        dynamic, static = eqx.partition(agents, eqx.is_array)

        def one(dynamic, scene):
            agent, scene, metrics = update(eqx.combine(dynamic, static), scene, env, config, rates)
            return eqx.filter(agent, eqx.is_array), scene, metrics

        is_alone = is_quick(config) and len(agents.update) == 1
        # Traced once, though it is asked for its shapes first.
        every = jax.jit(_alone(one) if is_alone else jax.vmap(one))
        *_, shapes = jax.eval_shape(every, dynamic, scenes)
        log = jax.tree.map(lambda m: jnp.zeros((most, *m.shape), m.dtype), shapes)

        def body(i, carry):
            dynamic, scenes, log = carry
            dynamic, scenes, metrics = every(dynamic, scenes)
            return dynamic, scenes, jax.tree.map(lambda old, new: old.at[i].set(new), log, metrics)

        dynamic, scenes, log = jax.lax.fori_loop(0, n, body, (dynamic, scenes, log))
        return eqx.combine(dynamic, static), scenes, log

    return program(advance, env, config, most, update.__qualname__)


def _alone(function: Callable) -> Callable:
    """What `vmap` gives for an axis of one, without what it costs to trace and compile."""

    def of_one(*arguments):
        results = function(*jax.tree.map(lambda x: x[0], arguments))
        return jax.tree.map(lambda x: x[None], results)

    return of_one


@lru_cache(maxsize=32)
def openings(env: FunctionalEnv, config: AnyLearning) -> Kept:
    """A compiled function from the keys of all seeds to their fresh scenes."""
    fresh = jax.vmap(lambda key: opening(env, config, jax.random.fold_in(key, 2)))
    return program(fresh, env, config, "openings", once=True)


def program(
    function: Callable, env: FunctionalEnv, config: AnyLearning, *about: Any, once: bool = False
) -> Kept:
    """Compiled as `config` asks, and kept."""
    ours = type(env).__module__.startswith("crisptree.")  # or else its source may have changed
    return Kept(function, options_for(config, once=once), (env, config, *about), on_disk=ours)
