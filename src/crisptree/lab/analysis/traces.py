"""Appendix B, computed: what the crisp tree does and earns for φ = 0 … n."""

from dataclasses import dataclass

from crisptree.lab.analysis.q_learning import crisp_values
from crisptree.lab.analysis.setting import Setting


@dataclass(frozen=True)
class Step:
    """(s_t, R(s_t), a_t)."""

    state: int
    reward: float
    action: int
    """1 or 2, as the paper numbers them."""


@dataclass(frozen=True)
class Trace:
    phi: int
    steps: tuple[Step, ...]
    """With p < 1: the path on which every move goes its likelier way."""
    value: float
    """V from the start; with p < 1 the expectation over all paths."""


def traces(setting: Setting, start: int) -> tuple[Trace, ...]:
    values = crisp_values(setting, start)
    return tuple(
        Trace(phi, trace(setting, start, float(phi)), float(values[phi]))
        for phi in range(setting.n + 1)
    )


def trace(setting: Setting, start: int, phi: float) -> tuple[Step, ...]:
    """The rollout of the tree `s > φ ? a2 : a1`, its step in a terminal state included."""
    setting.check_start(start)
    steps, state = [], start
    for _ in range(setting.horizon):
        action = 2 if state > phi else 1
        steps.append(Step(state, float(setting.rewards[state - 1]), action))
        if state in (1, setting.n):
            break
        onward = 1 if action == 1 else -1
        state += onward if setting.p >= 0.5 else -onward
    return tuple(steps)
