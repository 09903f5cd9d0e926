from dataclasses import fields, replace

import jax
import numpy as np
import pytest

from crisptree.envs.cartpole import CartPole
from crisptree.learn.agent import create
from crisptree.learn.compiled import advancing
from crisptree.learn.config import Learning
from crisptree.learn.q_config import QLearning
from crisptree.learn.rates import rates_of, shape_of
from crisptree.learn.session import compiled_segment
from crisptree.learn.stacks import stack
from crisptree.soft import SoftTree, balanced

CONFIG = Learning(n_envs=2, n_steps=8, epochs=1, minibatches=2)
OTHER_NUMBERS = {
    "gamma": 0.9,
    "gae_lambda": 0.5,
    "clip": 0.1,
    "entropy": 0.2,
    "entropy_end": 0.1,
    "learning_rate": 0.5,
    "critic_rate": 0.7,
    "final_rate": 0.3,
    "max_gradient_norm": 7.0,
    "anneal_until": 0.4,
}
OTHER_SHAPES = {
    "algorithm": "reinforce",
    "n_envs": 3,
    "n_steps": 16,
    "epochs": 5,
    "minibatches": 4,
    "leaf_rate": 3.0,
    "critic_width": 16,
    "optimiser": "rmsprop",
    "normalise_observations": False,
    "normalise_rewards": False,
    "steepness": (1.0, 2.0),
    "compiling": "quick",
}


def test_every_setting_is_a_number_or_of_the_shape():
    assert {*OTHER_NUMBERS, *OTHER_SHAPES} == {field.name for field in fields(Learning)}


@pytest.mark.parametrize("name", OTHER_NUMBERS)
def test_numbers_share_a_program_and_change_the_rates(name):
    other = replace(CONFIG, **{name: OTHER_NUMBERS[name]})
    assert shape_of(other) == shape_of(CONFIG)
    assert rates_of(other) != rates_of(CONFIG)


@pytest.mark.parametrize("name", OTHER_SHAPES)
def test_choices_make_another_program(name):
    assert shape_of(replace(CONFIG, **{name: OTHER_SHAPES[name]})) != shape_of(CONFIG)


def test_schedules_and_leaf_rates_share_a_program_where_there_are_any():
    one = replace(CONFIG, steepness=(2.0, 150.0), leaf_rate=3.0)
    other = replace(CONFIG, steepness=(8.0, 50.0), leaf_rate=0.5)
    assert shape_of(one) == shape_of(other)
    assert rates_of(other).steepness == 8
    assert rates_of(other).steepening == np.float32(6.25)
    assert rates_of(CONFIG).steepness is None
    assert rates_of(CONFIG).leaves is None


def test_q_learners_are_compiled_for_their_numbers():
    assert rates_of(QLearning()) is None
    assert shape_of(QLearning(gamma=0.5)) == QLearning(gamma=0.5)


def test_another_step_size_learns_otherwise_by_the_same_program():
    tree = SoftTree.random(balanced(2), 4, 2, key=jax.random.key(0))
    agents = stack([create(tree, 4, CONFIG, 4, key=jax.random.key(1))])
    advancing.cache_clear()
    learned = []
    for rate in (1e-2, 1e-1):
        segment = compiled_segment(CartPole(), replace(CONFIG, learning_rate=rate), 2)
        learned.append(segment(agents, 1)[0])
    assert advancing.cache_info().misses == 1
    moved = [float(abs(each.actor.comparators - tree.comparators).max()) for each in learned]
    # Adam's first steps are as long as the step size; four of them at most in an update
    assert moved[1] > 5 * moved[0] > 0
