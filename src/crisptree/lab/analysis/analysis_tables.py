"""The analysis as tables for a terminal."""

from collections.abc import Iterable

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from crisptree.lab.analysis.appendices import Trace
from crisptree.lab.analysis.chain_analysis import Analysis
from crisptree.lab.analysis.critical_points import Zero
from crisptree.lab.analysis.update_curves import Curve

MOST_ZEROS = 9
MOST_TRACES = 12


def print_tables(analysis: Analysis, console: Console) -> None:
    for part in tables(analysis):
        console.print(part)
        console.print()


def tables(analysis: Analysis) -> Iterable[RenderableType]:
    yield setting_line(analysis)
    yield critical_points(
        "Critical points of φ, Δφ = 0 (Q-learning by its handling of terminal states)",
        analysis.curves,
    )
    yield statement(analysis)
    yield learning(analysis)
    yield appendix_a(analysis)
    yield appendix_b(analysis)
    yield appendix_c(analysis)
    yield appendix_d(analysis)
    if analysis.comparisons:
        yield comparisons(analysis)


def setting_line(analysis: Analysis) -> Text:
    s = analysis.setting
    return Text(
        f"Chain of {s.n} states, i* = {s.istar}, p = {s.p:g}, γ = {s.gamma:g}, α = {s.alpha:g}, "
        f"r+ = {s.r_plus:g}, r- = {s.r_minus:g}, {s.horizon} time steps, "
        f"starts {', '.join(map(str, analysis.starts))}. The best φ is {s.optimal_phi:g}."
    )


def method_name(curve: Curve) -> str:
    return "policy gradient" if curve.terminal is None else f"Q, {curve.terminal.name}"


def plain_table(
    title: str, columns: Iterable[str], rows: Iterable[Iterable[str | Text]], note: str = ""
) -> RenderableType:
    """A table whose first column is never broken, light enough for 80 characters, and a note."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    return Group(table, Text(note, style="dim")) if note else table


def by_start(rows: Iterable[tuple[str, int, *tuple[str, ...]]]) -> Iterable[tuple[str, ...]]:
    """Rows (method, start, …) with those that differ in the start alone put together."""
    methods: dict[str, dict[tuple[str, ...], list[int]]] = {}
    for method, start, *rest in rows:
        methods.setdefault(method, {}).setdefault(tuple(rest), []).append(start)
    for method, together in methods.items():
        for rest, starts in together.items():
            yield method, ", ".join(map(str, starts)), *rest


def critical_points(title: str, curves: tuple[Curve, ...]) -> RenderableType:
    rows = (
        (method_name(c), c.start, zero_list(c.zeros), f"{c.distance_to_value:.3f}") for c in curves
    )
    return plain_table(
        title,
        ("method", "start", "zeros", "to V"),
        by_start(rows),
        "| jump of sign, ~ plateau below the smallest float, (in brackets) it repels φ. "
        "To V: mean distance of the optimality curve from the policy's value, both in [0, 1].",
    )


def zero_list(zeros: tuple[Zero, ...]) -> str:
    marks = {"smooth": "", "jump": "|", "plateau": "~"}
    words = [f"{zero.phi:.4f}{marks[zero.kind]}" for zero in zeros]
    words = [w if z.attracts else f"({w})" for w, z in zip(words, zeros, strict=True)]
    if len(words) > MOST_ZEROS:
        words = [f"{len(words)}:", *words[: MOST_ZEROS - 1], f"… {words[-1]}"]
    return "  ".join(words) or "none"


def statement(analysis: Analysis) -> Text:
    """What the counts say, in words made from the counts."""
    counts = {
        curve.terminal.name: len(curve.zeros)
        for curve in analysis.q_learning
        if curve.terminal is not None and curve.start == analysis.starts[0]
    }
    gradient = len(analysis.policy_gradient[0].zeros)
    standard = counts.pop("standard")
    others = ", ".join(f"{count} under “{name}”" for name, count in counts.items())
    words = (
        f"Critical points from start {analysis.starts[0]}: policy gradient has {gradient}; "
        f"Q-learning has {others}, and {standard} under the standard handling. "
    )
    if standard == gradient < min(counts.values()):
        words += (
            "The extra critical points belong to the handlings that treat a terminal state like "
            "any other; they vanish when it is neither bootstrapped through nor updated."
        )
    elif standard > gradient:
        words += (
            "Here extra critical points remain under the standard handling too: terminal states "
            "are not their only cause."
        )
    return Text(words, style="bold")


def learning(analysis: Analysis) -> RenderableType:
    plan, setting = analysis.plan, analysis.setting
    rows = (
        (
            method_name(curve),
            curve.start,
            f"{found.optimal_before(setting):.0%}",
            f"{found.optimal_after(setting):.0%}",
            f"{found.stuck(setting):.0%}",
        )
        for curve, found in zip(analysis.curves, analysis.learning, strict=True)
    )
    return plain_table(
        f"Where φ ends after {plan.steps} updates from {len(analysis.learning[0].first)} places "
        f"between 0 and {setting.n + 1}",
        ("method", "start", "optimal before", "optimal after", "stuck"),
        by_start(rows),
        "Optimal: the crisp tree goes right up to i* and left beyond. Stuck: a wrong tree that "
        f"moved less than 0.05. Rate {plan.rate:g} a time step.",
    )


def appendix_a(analysis: Analysis) -> RenderableType:
    q, h, i = analysis.optimal_q, analysis.horizon_q, analysis.setting.istar - 1
    rows = []
    for check in analysis.theorem:
        states = ", ".join(map(str, check.exceptions[:8])) or "none"
        if len(check.exceptions) > 8:
            states += f", … ({len(check.exceptions)})"
        margin = f"{round(check.margin, 4) + 0.0:.4f}"
        rows.append((f"{check.p:g}", check.verdict, states, margin))
    return plain_table(
        "Appendix A: the theorem against value iteration",
        ("p", "a1 up to i*, a2 beyond", "states that disagree", "least margin"),
        rows,
        f"Q(s{i + 1}, a1) = {q[i, 0]:.4f} and Q(s{i + 1}, a2) = {q[i, 1]:.4f} without a horizon; "
        f"{h[i, 0]:.4f} and {h[i, 1]:.4f} with {analysis.setting.horizon} time steps.",
    )


def appendix_b(analysis: Analysis) -> RenderableType:
    rows = []
    for trace in _middle(analysis):
        steps = " ".join(f"({s.state}, {s.reward:g}, {s.action})" for s in trace.steps[:6])
        if len(trace.steps) > 6:
            steps += f" … {len(trace.steps)} steps"
        rows.append((str(trace.phi), steps, f"{trace.value:.4f}"))
    is_cut = len(analysis.traces) > MOST_TRACES
    return plain_table(
        f"Appendix B: the crisp tree from start {analysis.starts[-1]}",
        ("φ", "trace (state, reward, action)", "value"),
        rows,
        "Rows around i*; the others are in the JSON." if is_cut else "",
    )


def _middle(analysis: Analysis) -> tuple[Trace, ...]:
    first = min(
        max(0, analysis.setting.istar - MOST_TRACES // 2),
        max(0, len(analysis.traces) - MOST_TRACES),
    )
    return analysis.traces[first : first + MOST_TRACES]


def appendix_c(analysis: Analysis) -> RenderableType:
    main, horizon = analysis.leaves, analysis.horizon_leaves
    leaves = plain_table(
        "Appendix C: the leaves' Q-values",
        ("leaf", "main text", "Appendix C"),
        (
            ("favoured action", f"{main.good:.4f}", f"{horizon.good:.4f}"),
            ("other action", f"{main.bad:.4f}", f"{horizon.bad:.4f}"),
        ),
    )
    if not analysis.horizon_leaf_q_learning:
        return Group(leaves, Text("Appendix C's leaves do not favour the tree's actions here."))
    title = "Critical points with Appendix C's leaves"
    return Group(leaves, critical_points(title, analysis.horizon_leaf_q_learning))


def appendix_d(analysis: Analysis) -> Text:
    place, chance = analysis.least_wrong
    return Text(
        f"Appendix D: the soft tree is least likely to take a wrong action at φ = {place:.4f}, "
        f"with probability {chance:.4f}."
    )


def comparisons(analysis: Analysis) -> RenderableType:
    rows = []
    for line in analysis.comparisons:
        words = Text(f"{line.what}: printed {line.printed}, computed {line.computed}")
        if line.remark:
            words.append(f". {line.remark}", style="dim")
        verdict = Text("agrees") if line.agrees else Text("differs", style="bold")
        rows.append((verdict, line.where, words))
    title = "The paper's print beside what its equations give"
    return plain_table(title, ("", "where", "what"), rows)
