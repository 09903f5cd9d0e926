"""A plain PPO on an MLP, all of it in JAX: the peer that shares our compiler.

Its default settings are those that PureJaxRL publishes for CartPole. Nothing of crisptree's
learner is used here, only the environment.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from crisptree.envs.cartpole import CartPole


@dataclass(frozen=True)
class Settings:
    n_envs: int = 4
    n_steps: int = 128
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 2.5e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value_weight: float = 0.5
    max_gradient_norm: float = 0.5

    @property
    def steps_per_update(self) -> int:
        return self.n_envs * self.n_steps


class Step(NamedTuple):
    observation: jax.Array
    action: jax.Array
    log_probability: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


def network(key: jax.Array, sizes: tuple[int, ...], last_gain: float) -> list[tuple]:
    keys = jax.random.split(key, len(sizes) - 1)
    gains = [2.0**0.5] * (len(sizes) - 2) + [last_gain]
    return [
        (jax.nn.initializers.orthogonal(gain)(k, (n_in, n_out)), jnp.zeros(n_out))
        for k, gain, n_in, n_out in zip(keys, gains, sizes[:-1], sizes[1:], strict=True)
    ]


def forward(layers: list[tuple], rows: jax.Array) -> jax.Array:
    for weight, bias in layers[:-1]:
        rows = jnp.tanh(rows @ weight + bias)
    weight, bias = layers[-1]
    return rows @ weight + bias


def trainer(settings: Settings, updates: int):
    """`(start, advance)`: the first state from a key, and `updates` updates of a state."""
    env = CartPole()
    optimise = optax.chain(
        optax.clip_by_global_norm(settings.max_gradient_norm),
        optax.adam(settings.learning_rate, eps=1e-5),
    )

    def start(key: jax.Array) -> Any:
        for_actor, for_critic, for_envs, key = jax.random.split(key, 4)
        parameters = {
            "actor": network(for_actor, (4, 64, 64, 2), 0.01),
            "critic": network(for_critic, (4, 64, 64, 1), 1.0),
        }
        states, rows = jax.vmap(env.reset)(jax.random.split(for_envs, settings.n_envs))
        return parameters, optimise.init(parameters), states, rows, key

    def step(carry, _):
        parameters, states, rows, key = carry
        key, for_action, for_step, for_reset = jax.random.split(key, 4)
        log_policy = jax.nn.log_softmax(forward(parameters["actor"], rows))
        value = forward(parameters["critic"], rows)[:, 0]
        action = jax.random.categorical(for_action, log_policy)
        taken = jnp.take_along_axis(log_policy, action[:, None], 1)[:, 0]
        at = jax.vmap(env.step)(jax.random.split(for_step, settings.n_envs), states, action)
        done = at.terminated | at.truncated
        fresh = jax.vmap(env.reset)(jax.random.split(for_reset, settings.n_envs))

        def pick(a, b):
            return jnp.where(done.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

        states, following = jax.tree.map(pick, fresh, (at.state, at.observation))
        seen = Step(rows, action, taken, value, at.reward, done)
        return (parameters, states, following, key), seen

    def advantages(seen: Step, last_value: jax.Array) -> jax.Array:
        def back(carry, at):
            advantage, next_value = carry
            kept = 1.0 - at.done
            delta = at.reward + settings.gamma * next_value * kept - at.value
            advantage = delta + settings.gamma * settings.gae_lambda * kept * advantage
            return (advantage, at.value), advantage

        start = (jnp.zeros_like(last_value), last_value)
        return jax.lax.scan(back, start, seen, reverse=True)[1]

    def loss(parameters, batch):
        seen, advantage, target = batch
        log_policy = jax.nn.log_softmax(forward(parameters["actor"], seen.observation))
        value = forward(parameters["critic"], seen.observation)[:, 0]
        taken = jnp.take_along_axis(log_policy, seen.action[:, None], 1)[:, 0]
        near = seen.value + jnp.clip(value - seen.value, -settings.clip, settings.clip)
        errors = jnp.maximum(jnp.square(value - target), jnp.square(near - target))
        ratio = jnp.exp(taken - seen.log_probability)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - settings.clip, 1 + settings.clip)
        surrogate = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -(jnp.exp(log_policy) * log_policy).sum(-1).mean()
        return surrogate + settings.value_weight * 0.5 * errors.mean() - settings.entropy * entropy

    def update(carry, _):
        parameters, state, states, rows, key = carry
        first = (parameters, states, rows, key)
        (_, states, rows, key), seen = jax.lax.scan(step, first, None, settings.n_steps)
        advantage = advantages(seen, forward(parameters["critic"], rows)[:, 0])
        batch = (seen, advantage, advantage + seen.value)
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)

        def minibatch(carry, rows):
            parameters, state = carry
            gradient = jax.grad(loss)(parameters, rows)
            steps, state = optimise.update(gradient, state)
            return (optax.apply_updates(parameters, steps), state), None

        def epoch(carry, key):
            order = jax.random.permutation(key, settings.steps_per_update)
            shuffled = jax.tree.map(
                lambda x: x[order].reshape(settings.minibatches, -1, *x.shape[1:]), flat
            )
            return jax.lax.scan(minibatch, carry, shuffled)

        key, for_epochs = jax.random.split(key)
        keys = jax.random.split(for_epochs, settings.epochs)
        (parameters, state), _ = jax.lax.scan(epoch, (parameters, state), keys)
        return (parameters, state, states, rows, key), seen.done.sum()

    @jax.jit
    def advance(carry):
        return jax.lax.scan(update, carry, None, updates)

    return start, advance
