import itertools

import jax
import jax.numpy as jnp
import pytest

from crisptree.envs.chain import ChainState
from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.state_reward_chain import Handling, RewardedState, StateRewardChain

HANDLINGS: tuple[Handling, ...] = ("standard", "paper", "bootstrap-and-update")
RIGHT, LEFT = 0, 1
KEY = jax.random.key(0)


def standing(position: int) -> RewardedState:
    """A fresh episode in a state of one's own choice."""
    return RewardedState(ChainState(jnp.asarray(position), jnp.asarray(1)), jnp.asarray(0))


def walk(env: StateRewardChain, start: int, actions) -> list[tuple[int, float, bool, bool]]:
    """(state, reward, terminated, truncated) of every step until the episode is over."""
    state, steps = standing(start), []
    for action in actions:
        at = env.step(KEY, state, jnp.asarray(action))
        ends = bool(at.terminated), bool(at.truncated)
        steps.append((int(at.observation[0]), round(float(at.reward), 6), *ends))
        state = at.state
        if any(ends):
            break
    return steps


def test_standard_pays_for_the_terminal_state_on_the_way_in():
    """1 for s3, then 1 + 0.95 · (-1) for s2 and what it led to."""
    assert walk(StateRewardChain(PAPER), 3, [LEFT] * 4) == [
        (2, 1.0, False, False),
        (1, 0.05, True, False),
    ]


def test_the_papers_handling_is_cut_off_where_it_enters():
    """The terminal state pays nothing and does not terminate: a learner bootstraps there."""
    assert walk(StateRewardChain(PAPER, "paper"), 3, [LEFT] * 4) == [
        (2, 1.0, False, False),
        (1, 1.0, False, True),
    ]


@pytest.mark.parametrize("last", [RIGHT, LEFT])
def test_bootstrap_and_update_acts_once_more_at_the_end(last):
    """Whatever it does there pays r- and leads nowhere."""
    assert walk(StateRewardChain(PAPER, "bootstrap-and-update"), 2, [RIGHT, RIGHT, last]) == [
        (3, 1.0, False, False),
        (4, 1.0, False, False),
        (4, -1.0, True, False),
    ]


@pytest.mark.parametrize("handling", HANDLINGS)
def test_an_episode_is_cut_after_its_time_steps(handling):
    steps = walk(StateRewardChain(PAPER, handling), 2, itertools.cycle([RIGHT, LEFT]))
    assert [at[0] for at in steps] == [3, 2, 3, 2]
    assert [at[1] for at in steps] == [1.0] * 4
    assert [at[2:] for at in steps] == [(False, False)] * 3 + [(False, True)]


def test_states_in_between_pay_nothing():
    env = StateRewardChain(Setting(n=7, istar=3, r_plus=2.0, r_minus=-3.0, gamma=0.5, horizon=9))
    steps = walk(env, 3, [RIGHT] * 9)
    assert [at[1] for at in steps] == [2.0, 2.0, 0.0, -1.5]
    assert steps[-1] == (7, -1.5, True, False)


@pytest.mark.parametrize("handling", ["standard", "bootstrap-and-update"])
@pytest.mark.parametrize("start", [2, 3, 4])
def test_the_return_is_the_papers_value_of_the_walk(handling, start):
    """Σ γ^t R(s_t), the terminal state included, for every sequence of actions."""
    setting = Setting(n=5, istar=2, gamma=0.9, r_minus=-0.5, horizon=6)
    env = StateRewardChain(setting, handling)
    for actions in itertools.product([RIGHT, LEFT], repeat=4):
        state, value, gamma_t = start, 0.0, 1.0
        for action in (*actions, RIGHT):
            value += gamma_t * setting.rewards[state - 1]
            gamma_t *= setting.gamma
            if state in (1, setting.n):
                break
            state += 1 if action == RIGHT else -1
        # Five steps leave out the pay of a terminal state that only the fifth of them enters.
        if state in (1, setting.n) and gamma_t == pytest.approx(setting.gamma**5):
            continue
        found = walk(env, start, (*actions, RIGHT))
        assert sum(setting.gamma**t * at[1] for t, at in enumerate(found)) == pytest.approx(value)


def test_moves_can_go_astray():
    env = StateRewardChain(Setting(p=0.0), "paper")
    assert walk(env, 2, [LEFT])[0][0] == 3
    assert walk(env, 2, [RIGHT])[0] == (1, 1.0, False, True)
    half = StateRewardChain(Setting(p=0.5))
    keys = jax.random.split(KEY, 2000)
    at = jax.vmap(lambda key: half.step(key, standing(2), jnp.asarray(RIGHT)))(keys)
    assert float((at.observation == 3).mean()) == pytest.approx(0.5, abs=0.05)


def test_episodes_start_beside_the_best_threshold():
    env = StateRewardChain(Setting(n=9, istar=4))
    state, seen = jax.vmap(env.reset)(jax.random.split(KEY, 2000))
    assert (state.chain.position == seen[:, 0]).all()
    assert (state.steps == 0).all()
    assert set(seen[:, 0].tolist()) == {4.0, 5.0}
    assert float((seen == 4).mean()) == pytest.approx(0.5, abs=0.05)


def test_a_single_time_step():
    assert walk(StateRewardChain(Setting(horizon=1)), 2, [RIGHT]) == [(3, 1.0, False, True)]
