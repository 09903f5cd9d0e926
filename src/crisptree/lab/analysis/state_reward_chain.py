"""The chain as an environment that pays for the state a step is taken in, as §5 does.

`envs.chain.Chain` pays for the state a step leads to. The paper pays R(s) for the state it is
taken in, and its leaves hold values in that sense. What happens at a terminal state then decides
what a learner that bootstraps sees; three of the analysis' handlings are environments:

    standard               the step into it pays R(s) + γ r- and terminates
    paper                  the step into it pays R(s) and is cut off there, so it bootstraps
    bootstrap-and-update   it is a state like any other, where one more step pays r- and terminates

(`terminal-update` gives one and the same transition two values; no environment does that.)
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.crisp.signature import Actions
from crisptree.envs.chain import Chain, ChainState, observe
from crisptree.envs.functional import TimeStep
from crisptree.lab.analysis.chain_setting import Setting

Handling = Literal["standard", "paper", "bootstrap-and-update"]


class RewardedState(NamedTuple):
    chain: ChainState
    steps: Int[Array, ""]


@dataclass(frozen=True)
class StateRewardChain:
    """Episodes start in i* or i*+1 with equal chance and have `setting.horizon` steps."""

    setting: Setting
    handling: Handling = "standard"
    n_agents: int = field(default=1, init=False)
    n_features: int = field(default=1, init=False)
    actions: Actions = field(default=Actions.discrete(("right", "left")), init=False)

    @property
    def _chain(self) -> Chain:
        s = self.setting
        return Chain(s.n, s.istar, s.p, s.r_plus, s.r_minus, horizon=max(2, s.horizon))

    def reset(self, key: Key[Array, ""]) -> tuple[RewardedState, Float[Array, "1"]]:
        chain, observation = self._chain.reset(key)
        return RewardedState(chain, jnp.zeros((), jnp.int32)), observation

    def step(self, key: Key[Array, ""], state: RewardedState, action: Int[Array, ""]) -> TimeStep:
        setting, here = self.setting, state.chain.position
        at = self._chain.step(key, state.chain, action)
        steps = state.steps + 1
        paid = jnp.asarray(setting.rewards, jnp.float32)[here - 1]
        over = steps >= setting.horizon
        entered, leaves = at.terminated, self._is_terminal(here)
        if self.handling == "bootstrap-and-update":
            # The chain knows no state beyond its ends: a step there leads to where it was.
            position = jnp.where(leaves, here, at.state.position)
            chain = at.state._replace(position=position)
            return TimeStep(RewardedState(chain, steps), observe(position), paid, leaves, over)
        following = RewardedState(at.state, steps)
        if self.handling == "paper":
            return TimeStep(following, at.observation, paid, jnp.asarray(False), over | entered)
        last = jnp.where(entered, setting.gamma * setting.r_minus, 0.0)
        return TimeStep(following, at.observation, paid + last, entered, over)

    def _is_terminal(self, position: Int[Array, ""]) -> Bool[Array, ""]:
        return (position == 1) | (position == self.setting.n)
