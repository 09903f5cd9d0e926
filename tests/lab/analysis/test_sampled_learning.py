"""Learning φ from experience, held against the exact updates of the analysis."""

import io
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from crisptree.envs.chain import ChainState
from crisptree.lab.analysis import HANDLINGS, find_zeros, phi_grid, q_learning, sampled_learning
from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.chain_tree import ValueLeaves, goes_true, main_text_leaves, moves_right
from crisptree.lab.analysis.sampled_learning import (
    LearnedThresholds,
    Method,
    MethodResult,
    PhiOnly,
    compare_learners,
    comparison_json,
    comparison_table,
    learned_thresholds,
    methods,
    one_node,
)
from crisptree.lab.analysis.state_reward_chain import RewardedState, StateRewardChain
from crisptree.lab.analysis.update_curves import initial_phis
from crisptree.lab.analysis.update_curves import is_optimal as is_optimal_phi
from crisptree.learn.config import DQNConfig
from crisptree.learn.dqn import init, q_step
from crisptree.learn.replay import Transitions

LONGER = Setting(n=7, istar=3, alpha=4.0, gamma=0.8, r_minus=-0.5, horizon=6)
METHODS = {(method.name, method.handling): method for method in methods(PAPER.gamma)}
PLAIN = {handling: method for (name, handling), method in METHODS.items() if "plain" in name}
EXACT = {handling.name: handling for handling in HANDLINGS}
LEAVES = ValueLeaves(7.0, 4.5)
KEY = jax.random.key(0)


def changed(method: Method, **numbers) -> Method:
    assert isinstance(method.config, DQNConfig)
    return replace(method, config=replace(method.config, **numbers))


def greedy_episode(setting: Setting, method: Method, phi: float) -> Transitions:
    """One greedy rollout from i*: right up to φ, left beyond. Rows after its end are masked."""
    env = StateRewardChain(setting, method.handling)
    first = RewardedState(ChainState(jnp.asarray(setting.istar), jnp.asarray(1)), jnp.asarray(0))

    def step(carry, _):
        state, seen, goes_on = carry
        action = (seen[0] > phi).astype(jnp.int32)
        at = env.step(KEY, state, action)
        row = Transitions(seen, action, at.reward, at.observation, at.terminated, goes_on)
        return (at.state, at.observation, goes_on & ~at.terminated & ~at.truncated), row

    seen = jnp.array([float(setting.istar)])
    return jax.lax.scan(step, (first, seen, jnp.asarray(True)), length=setting.horizon)[1]


@pytest.mark.parametrize("handling", PLAIN)
def test_a_plain_step_on_a_greedy_episode_is_the_exact_update(handling):
    """The learner's φ moves by the mean of what Eq. 5 sums along the rollout."""
    setting = LONGER
    method = changed(PLAIN[handling], gamma=setting.gamma, learning_rate=0.01)
    config = method.config
    assert isinstance(config, DQNConfig)
    agent = init(PhiOnly(tree=one_node(setting, 0.0, LEAVES)), 1, config, 1, key=KEY)

    @jax.jit
    @jax.vmap
    def moved(phi):
        rows = greedy_episode(setting, method, phi)
        at = eqx.tree_at(lambda a: a.actor.tree.comparators, agent, phi[None])
        after, _ = q_step(at, rows, config)
        return after.actor.tree.comparators[0] - phi, rows.mask.sum()

    phis = np.arange(0.85, setting.n, 0.3)
    found, lengths = moved(jnp.asarray(phis, jnp.float32))
    update = q_learning(setting, setting.istar, LEAVES, EXACT[handling])(phis)
    expected = 0.01 * update.total / lengths
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-6)


def test_without_exploration_experience_ends_at_the_exact_critical_points(monkeypatch):
    """Eq. 5 to the letter, from three places: 1.4974, 2.5 and 3.5026. Nothing but φ has moved."""
    trees, judge = [], sampled_learning.is_optimal
    monkeypatch.setattr(sampled_learning, "is_optimal", lambda s, t: trees.append(t) or judge(s, t))
    rule = q_learning(PAPER, 2, main_text_leaves(PAPER), EXACT["paper"])
    grid = phi_grid(PAPER, 0.0, 5.0)
    known = [zero.phi for zero in find_zeros(rule, grid, rule(grid).balance) if zero.attracts]
    method = changed(
        PLAIN["paper"], epsilon_start=0.0, epsilon_end=0.0, n_envs=4, learning_rate=1.0
    )
    ended = learned_thresholds(PAPER, method, np.array([1.3, 2.3, 3.6]), 16_000, "phi")
    np.testing.assert_allclose(ended.last, known, atol=5e-4)
    assert ended.optimal.tolist() == [False, True, False]
    (tree,) = trees
    np.testing.assert_array_equal(tree.weights, np.ones((3, 1, 1)))
    np.testing.assert_array_equal(tree.steepness, np.full((3, 1), 10.0))
    good, bad = main_text_leaves(PAPER)
    np.testing.assert_allclose(tree.leaves, [[[bad, good], [good, bad]]] * 3, rtol=1e-6)


@pytest.mark.parametrize("output", ["q_values", "log_policy"])
def test_held_parts_change_no_value_and_no_slope_of_phi(output):
    tree = one_node(PAPER, 2.2, (3.0, 1.0))

    def first_action(model):
        return getattr(model, output)(jnp.array([2.0]))[0]

    alone = jax.grad(first_action)(PhiOnly(tree=tree)).tree
    whole = jax.grad(first_action)(tree)
    assert first_action(PhiOnly(tree=tree)) == first_action(tree)
    assert float(whole.comparators[0]) != 0
    np.testing.assert_array_equal(alone.comparators, whole.comparators)
    for held in ("weights", "steepness", "leaves"):
        assert not getattr(alone, held).any()
        assert getattr(whole, held).any()


def test_one_node_is_the_tree_of_the_analysis():
    phi = 3.3
    x = jnp.asarray(LONGER.states, jnp.float32)[:, None]
    mu = goes_true(LONGER, np.array([phi]))[:, 0]
    tree = one_node(LONGER, phi, LEAVES)
    q = np.stack([mu * 4.5 + (1 - mu) * 7.0, mu * 7.0 + (1 - mu) * 4.5], 1)
    np.testing.assert_allclose(jax.vmap(tree.q_values)(x), q, rtol=1e-5)
    policy = one_node(LONGER, phi, np.log([0.99, 0.01]).tolist())
    right = jnp.exp(jax.vmap(policy.log_policy)(x))[:, 0]
    np.testing.assert_allclose(right, moves_right(LONGER, np.array([phi]))[:, 0], rtol=1e-5)


@pytest.mark.parametrize("name", ["PPO", "DQN"])
def test_learners_tell_all_states_of_a_long_chain_apart(name):
    setting = Setting(n=40, istar=20)
    config = METHODS[name, "standard"].config
    agent = sampled_learning._learner(setting, config, 30.5, 0, 1, "phi")
    x = jnp.asarray(setting.states, jnp.float32)[:, None]
    right = agent.distribution(x).argmax(1) == 0
    assert right.tolist() == (setting.states <= 30.5).tolist()


def test_optimal_is_what_the_crisp_tree_does():
    phis = np.array([0.5, 1.99, 2.0, 2.5, 2.99, 3.0, 4.5])

    def optimal(trees) -> list[bool]:
        return sampled_learning.is_optimal(
            PAPER, jax.tree.map(lambda *parts: jnp.stack(parts), *trees)
        ).tolist()

    trees = [one_node(PAPER, phi, (1.0, 0.0)) for phi in phis.tolist()]
    assert optimal(trees) == is_optimal_phi(PAPER, phis).tolist()
    wrong_leaves = [one_node(PAPER, phi, (0.0, 1.0)) for phi in phis.tolist()]
    assert not any(optimal(wrong_leaves))
    # Turned round as well, -s > -φ: the same split, but now φ = 3 is optimal and φ = 2 is not.
    turned = [
        eqx.tree_at(lambda t: (t.weights, t.comparators), tree, (-tree.weights, -tree.comparators))
        for tree in wrong_leaves
    ]
    assert optimal(turned) == [False, False, False, True, True, True, False]


def test_every_handling_but_the_terminal_update_is_learned_with():
    assert set(PLAIN) == {handling.name for handling in HANDLINGS} - {"terminal-update"}
    assert {handling for _, handling in METHODS} == set(PLAIN)
    assert {method.config.gamma for method in methods(0.5)} == {0.5}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["REINFORCE", "PPO"])
@pytest.mark.parametrize("trained", ["phi", "tree"])
def test_policy_gradient_finds_the_best_threshold_nearby(name, trained):
    """Alone between known leaves, or with leaves that know nothing; the same bytes each time."""
    first = np.array([2.2, 2.7])
    ended = learned_thresholds(PAPER, METHODS[name, "standard"], first, 40_000, trained)
    assert ended.optimal.all()
    assert (np.abs(ended.last - 2.5) < np.abs(first - 2.5)).all()
    again = learned_thresholds(PAPER, METHODS[name, "standard"], first, 40_000, trained)
    np.testing.assert_array_equal(ended.last, again.last)


FIRST = np.array([1.0, 2.2, 3.0, 4.0])
PHI_ALONE = LearnedThresholds(
    FIRST, np.array([1.0, 2.5, 2.5, 4.0]), np.array([False, True, True, False])
)
WHOLE_TREE = LearnedThresholds(
    FIRST, np.array([2.5, 2.5, 2.5, 4.0]), np.array([True, True, True, False])
)
LEARNED = MethodResult(methods(0.95)[0], PHI_ALONE, WHOLE_TREE)


def test_every_method_learns_phi_and_the_tree_from_the_same_places(monkeypatch):
    asked = []

    def noted(setting, method, first, steps, trained):
        asked.append((setting, method, steps, trained))
        np.testing.assert_array_equal(first, initial_phis(PAPER))
        return PHI_ALONE if trained == "phi" else WHOLE_TREE

    monkeypatch.setattr(sampled_learning, "learned_thresholds", noted)
    found = list(compare_learners(PAPER))
    assert [result.method for result in found] == list(methods(PAPER.gamma))
    assert all(result.phi is PHI_ALONE and result.tree is WHOLE_TREE for result in found)
    assert asked == [
        (PAPER, method, sampled_learning.STEPS, trained)
        for method in methods(PAPER.gamma)
        for trained in ("phi", "tree")
    ]


def test_shares_in_the_table():
    console = Console(width=80, file=io.StringIO())
    with console.capture() as captured:
        console.print(comparison_table(PAPER, [LEARNED]))
    (row,) = [line.split() for line in captured.get().splitlines() if "REINF" in line]
    assert row == ["REINFORCE", "standard", "50%", "75%"]


def test_json_tells_every_place():
    (entry,) = comparison_json([LEARNED])
    assert (entry["learner"], entry["terminal"]) == ("REINFORCE", "standard")
    assert entry["phi_alone"]["optimal_after"] == 0.5
    assert entry["all_of_the_tree"]["optimal_after"] == 0.75
    assert entry["phi_alone"]["last"] == [1.0, 2.5, 2.5, 4.0]
    assert entry["phi_alone"]["optimal"] == [False, True, True, False]
