"""The paper's print beside what its own equations give, line by line, at its own setting."""

from dataclasses import dataclass, replace

import numpy as np

from crisptree.lab.analysis.appendices import (
    appendix_c_leaves,
    check_theorem,
    least_wrong,
    optimal_q,
    printed_transition,
)
from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.chain_tree import main_text_leaves
from crisptree.lab.analysis.critical_points import find_zeros, phi_grid
from crisptree.lab.analysis.exact_policy_gradient import Discounting, evaluate, policy_gradient
from crisptree.lab.analysis.exact_q_learning import HANDLINGS, crisp_values, q_learning


@dataclass(frozen=True)
class Comparison:
    """One thing the paper prints."""

    where: str
    what: str
    printed: str
    computed: str
    agrees: bool
    remark: str


def compare_print() -> tuple[Comparison, ...]:
    """Every line of the comparison, computed now."""
    return (
        *_critical_points(),
        *_leaves(),
        *_appendix_a(),
        *_appendix_b(),
        _appendix_d(),
        *_conventions(),
    )


def _zeros(setting: Setting, *starts: int, discounting: Discounting = "to-go") -> list[float]:
    """Policy gradient's zeros from each start, one after the other."""
    grid = phi_grid(setting, -2.0, setting.n + 3.0)
    found: list[float] = []
    for start, at in zip(starts, evaluate(setting, grid, starts, discounting), strict=True):
        rule = policy_gradient(setting, start, discounting)
        found += [zero.phi for zero in find_zeros(rule, grid, at.update.balance)]
    return found


def _listed(numbers: list[float]) -> str:
    return ", ".join(f"{number:.4f}" for number in numbers)


def _critical_points():
    for start, printed in ((2, 2.465), (3, 2.535)):
        zeros = _zeros(PAPER, start)
        yield Comparison(
            "§5.4",
            f"policy gradient's critical point from s0 = {start} (footnote)",
            f"{printed}",
            _listed(zeros),
            len(zeros) == 1 and abs(zeros[0] - printed) < 0.0005,
            "The two starts have changed places",
        )
    grid, leaves = phi_grid(PAPER, -2.0, PAPER.n + 3.0), main_text_leaves(PAPER)
    for handling in HANDLINGS:
        rule = q_learning(PAPER, PAPER.istar, leaves, handling)
        count = len(find_zeros(rule, grid, rule(grid).balance))
        yield Comparison(
            "§5.4",
            f"Q-learning's critical points, terminal states handled as “{handling.name}”",
            "5",
            f"{count}",
            count == 5,
            handling.meaning,
        )


def _leaves():
    bad = main_text_leaves(PAPER).bad
    true_bad = float(optimal_q(PAPER)[PAPER.istar - 1, 1])
    yield Comparison(
        "§5.2",
        "Q of the wrong action in s2, “r+/(1-γ) - r+ - r+γ”",
        f"{bad:.4g}",
        f"{true_bad:.4g}",
        bool(np.isclose(bad, true_bad)),
        "A wrong step ends the episode: r+ + γ r-, as Appendix A itself derives",
    )
    c = appendix_c_leaves(PAPER)
    yield Comparison(
        "§5.2, App. C",
        "leaf values, favoured / other",
        f"{main_text_leaves(PAPER).good:.4g} / {bad:.4g}",
        f"{c.good:.4g} / {c.bad:.4g}",
        bool(np.allclose(main_text_leaves(PAPER), c)),
        "Main text and Appendix C disagree; Appendix C's are the four-step values",
    )


def _appendix_a():
    theorem = check_theorem(PAPER, 1.0)
    yield Comparison(
        "App. A",
        "theorem: a1 in s2 and a2 in s3 is the optimal policy",
        "holds",
        theorem.verdict,
        theorem.verdict == "holds",
        "",
    )
    infinite = float(optimal_q(PAPER)[PAPER.istar - 1, 0])
    printed = PAPER.r_plus / (1 + PAPER.gamma)
    yield Comparison(
        "App. A",
        "Q(s2, a1) for T = ∞, “r+/(1+γ)”",
        f"{printed:.4g}",
        f"{infinite:.4g}",
        bool(np.isclose(printed, infinite)),
        "Should read r+/(1-γ), as further down the same page",
    )
    mass = printed_transition(PAPER)[1:-1].sum(-1)
    yield Comparison(
        "App. A",
        "Σ P(s'|s,a) over s' for (s2,a1), (s2,a2), (s3,a1), (s3,a2)",
        "1, 1, 1, 1",
        ", ".join(f"{m:g}" for m in mass.ravel()),
        bool(np.allclose(mass, 1)),
        "As printed no terminal state can be entered; §5.1's transitions are used here",
    )
    zeros = _zeros(replace(PAPER, r_minus=0.0), 2, 3)
    yield Comparison(
        "§5.1, App. A",
        "r-: “0” in the text, “< 0” in the proof, -1 in Appendix D's caption",
        "0, < 0, -1",
        f"{PAPER.r_minus:g}",
        False,
        f"With r- = 0 policy gradient's zeros are {_listed(zeros)}",
    )


def _appendix_b():
    r_plus, r_minus, gamma = PAPER.r_plus, PAPER.r_minus, PAPER.gamma
    pair = r_plus * (1 + gamma)
    printed = {
        0: ("r+(1+γ) + r-", pair + r_minus),
        1: ("r+(1+γ) + r-", pair + r_minus),
        2: ("r+(1+γ+γ²+γ³)", pair * (1 + gamma**2)),
        3: ("r+ + r-γ", r_plus + r_minus * gamma),
        4: ("r+ + r-γ", r_plus + r_minus * gamma),
    }
    values = crisp_values(PAPER, 3)
    for phi, (formula, number) in printed.items():
        agrees = bool(np.isclose(number, values[phi]))
        yield Comparison(
            "App. B",
            f"V of the crisp tree with φ = {phi} from s3, “{formula}”",
            f"{number:.4f}",
            f"{values[phi]:.4f}",
            agrees,
            "" if agrees else "r- comes at t = 2 and lacks its γ²",
        )


def _appendix_d() -> Comparison:
    place, _ = least_wrong(PAPER, -2.0, PAPER.n + 3.0)
    agrees = abs(place - 2.5) < 1e-6
    return Comparison(
        "App. D", "φ with the least chance of a wrong action", "2.5", f"{place:.4f}", agrees, ""
    )


def _conventions():
    yield Comparison(
        "Eq. 6",
        "discount of the advantage, “γ^(T-t')”: policy gradient's zeros from s2 and s3",
        _listed(_zeros(PAPER, 2, 3, discounting="as-printed")),
        _listed(_zeros(PAPER, 2, 3)),
        False,
        "Should read γ^(t'-t); the zeros hardly move",
    )
