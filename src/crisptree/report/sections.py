"""The sections of the page, one function each."""

import base64

import numpy as np

from crisptree.base.text import counted
from crisptree.envs.evaluate import digits
from crisptree.report import charts
from crisptree.report.elements import chip, facts, figure, paragraph, section, table, text
from crisptree.report.review import Episode, ExportCheck, Finding, Played, Review
from crisptree.show import as_svg
from crisptree.show.action_styles import ActionStyles
from crisptree.show.headline import size_of
from crisptree.show.rule_list import as_rule_list
from crisptree.show.text_formats import rules_in_words
from crisptree.show.visits import visit_counts
from crisptree.show.wording import Wording

MOST_LINES = 6
SMALL = 5
"""Leaves of a tree that a phone shows whole."""
MOST_LEAVES = 32
"""Of a drawing that a reader takes in; larger trees are drawn down to some level."""
KINDS = {
    "proved": "good",
    "equal": "good",
    "refuted": "bad",
    "differs": "bad",
    "rejected": "bad",
    "undecided": "open",
    "not checked": "open",
    "regions": "plain",
}


def policy(review: Review) -> str:
    """What the policy sees and does."""
    tree, wording = review.tree, Wording(review.tree, None, minus="−")
    used = {feature for feature in tree.feature.tolist() if feature >= 0}
    used |= {feature for gains in tree.gains for _, feature, _ in gains}
    states = tree.columns(review.played.states) if review.played else None
    rows = []
    for at, (name, feature) in enumerate(zip(wording.features, tree.features, strict=True)):
        met = "" if states is None or not len(states) else _span(states[:, at])
        bounds = f"{_bound(feature.low, '−∞')} … {_bound(feature.high, '∞')}"
        rows.append([text(name), feature.kind, bounds, met, "yes" if at in used else "no"])
    about = facts(
        [
            ("file", review.name),
            ("environment", tree.env_id or "not named in the file"),
            ("form", size_of(tree)),
            ("actions", f"{tree.actions.kind.replace('_', ' ')}: {', '.join(tree.action_names)}"),
            *([("features made by", tree.feature_function)] if tree.feature_function else []),
        ]
    )
    head = ["feature", "kind", "bounds", "met in play", "looked at"]
    return section(1, "The policy", about, table(head, rows, "features"))


def training(review: Review) -> str:
    """What was trained, with which command and configuration."""
    if not review.training:
        return section(2, "Training", paragraph("The file says nothing of a training.", "note"))
    stages = ""
    if review.stages:
        rows = [[text(s.name), s.leaves, s.earned, s.seconds] for s in review.stages]
        inner = table(["stage", "#leaves", "#return when chosen", "#seconds"], rows)
        stages = f"<details><summary>{counted(len(rows), 'stage')}</summary>{inner}</details>"
    note = (
        "These figures are the training's own, from the policy file and the records of its run; "
        "the next section measures anew."
    )
    return section(2, "Training", facts(review.training), stages, paragraph(note, "note"))


def scores(review: Review) -> str:
    """Unseen episodes: the mean, the quantiles, the worst."""
    if review.played is None:
        return section(3, "Scores", paragraph(review.not_played, "note"))
    score = review.played.score
    fmt = digits(score.returns, score.standard_error)
    worst = score.worst
    rows = [[f"{float(q):.0%}", _minus(fmt(value))] for q, value in score.quantiles.items()]
    rows = [["worst", _minus(fmt(worst["return"]))], *rows]
    rows.append(["best", _minus(fmt(max(score.returns)))])
    said = (
        f"{counted(len(score.returns), 'episode')} of {score.env_id} that neither training nor "
        f"selection saw, played greedily (reporting seed {score.seed}); {_lasted(review.played)}."
    )
    beside = "; ".join(f"{name} earns {_minus(f'{value:.4g}')}" for name, value in review.baselines)
    parts = [paragraph(said)]
    if beside:
        parts.append(paragraph(f"For comparison: {beside}."))
    if score.cut:
        parts.append(paragraph(f"{score.cut} episodes were cut at the step limit.", "warning"))
    cells = table(["episodes below", "#return"], rows, "narrow")
    if min(score.returns) == max(score.returns):
        shape = paragraph(f"Every episode earned {_minus(fmt(score.mean))}.", "lone")
    else:
        ends = [_minus(fmt(min(score.returns))), _minus(fmt(max(score.returns)))]
        shape = charts.histogram(score.returns, ends)
    parts.append(f'<div class="beside">{cells}<div class="wide">{shape}</div></div>')
    if review.played.worst is not None:
        parts.append(_worst(review, review.played.worst))
    return section(3, "Scores on unseen episodes", *parts)


def _lasted(played: Played) -> str:
    shortest, longest = int(played.lengths.min()), int(played.lengths.max())
    if shortest == longest:
        return f"every episode lasted {counted(shortest, 'step')}"
    return f"episodes lasted {shortest:,} to {longest:,} steps"


def _worst(review: Review, episode: Episode) -> str:
    """The worst episode, step by step."""
    tree, wording = review.tree, Wording(review.tree, None, minus="−")
    styles = ActionStyles(tree, wording)
    asked = [f for f in dict.fromkeys(tree.feature[list(tree.order)].tolist()) if f >= 0]
    asked += sorted({f for gains in tree.gains for _, f, _ in gains} - set(asked))
    chosen = asked[:MOST_LINES] or list(range(min(MOST_LINES, tree.n_features)))
    marks = [sorted(set(tree.threshold[tree.feature == f].tolist())) for f in chosen]
    marks = [found if len(found) <= 3 else [] for found in marks]
    names = [wording.features[feature] for feature in chosen]
    values = tree.columns(episode.observations)[:, chosen]
    stripe, colours = "", "Dashed"
    if tree.actions.kind == "box":
        names, marks = [*wording.actions.names, *names], [[] for _ in tree.action_names] + marks
        values = np.concatenate([tree.act(episode.observations), values], axis=1)
    else:
        stripe = charts.stripe([styles.of(leaf).fill for leaf in episode.leaves.tolist()])
        colours = "Colours are the actions of the tree below; dashed"
    drawing = charts.lines(names, values, stripe, marks)
    pictures = "".join(
        f'<div><img alt="step {step}" src="data:image/png;base64,'
        f'{base64.b64encode(png).decode()}"><span>step {step:,}</span></div>'
        for step, png in episode.pictures
    )
    assert review.played is not None
    fmt = digits(review.played.score.returns)
    caption = (
        f"The worst episode: seed {episode.seed}, return {_minus(fmt(episode.earned))}, "
        f"{counted(len(episode.observations), 'step')}; it {episode.ended}. {colours} lines are "
        "the tree's thresholds, where a feature has at most three."
    )
    strip = f'<div class="film">{pictures}</div>' if pictures else ""
    return strip + figure(drawing, caption)


def tree(review: Review) -> str:
    """The drawing, with the share of the states along each line."""
    states = review.played.states if review.played else None
    drawing = as_svg(review.tree, states=states, most_leaves=MOST_LEAVES)
    caption = "Thresholds are rounded for reading; the file has them exactly."
    is_folded = review.tree.n_leaves > MOST_LEAVES and as_rule_list(review.tree) is None
    if is_folded:
        caption = f"The upper levels; the rules below are the whole tree. {caption}"
    if review.played is not None:
        caption += (
            f" The wider a line, the larger its share of the {len(review.played.states):,} states "
            f"met in {counted(review.played.counted, 'episode')}."
        )
    kind = "paper small" if review.tree.n_leaves <= SMALL else "paper"
    kind += " folded" if is_folded else ""
    return section(4, "The tree", figure(drawing, caption, kind))


def rules(review: Review) -> str:
    """Every rule with its share of the states."""
    wording = Wording(review.tree, None, minus="−")
    styles = ActionStyles(review.tree, wording)
    states = review.played.states if review.played else None
    counts = None if states is None else visit_counts(review.tree, states)
    total = 1 if counts is None else max(int(counts[0]), 1)
    rows = []
    for at, (condition, leaf) in enumerate(rules_in_words(review.tree, wording), start=1):
        style = styles.of(leaf)
        swatch = f'<i class="swatch" style="background:{style.fill}"></i>'
        row = [str(at), text(condition), swatch + text(wording.actions.of(leaf))]
        if counts is not None:
            share = int(counts[leaf]) / total
            row.append(f'<span class="share" style="--share:{share:.4f}">{_percent(share)}</span>')
        rows.append(row)
    head = ["#", "if", "then", *(["#share of the states"] if counts is not None else [])]
    never = 0 if counts is None else sum(counts[leaf.node] == 0 for leaf in review.tree.leaves())
    note = f"{counted(int(never), 'rule')} decided nothing in these episodes." if never else ""
    return section(5, "Rules", table(head, rows, "rules"), paragraph(note, "note") if note else "")


def properties(review: Review) -> str:
    """Proved and refuted properties."""
    if not review.findings:
        none = "No property was asked for: --property, --properties and --certificate do."
        return section(6, "Properties", paragraph(none, "note"))
    return section(6, "Properties", *(_finding(each) for each in review.findings))


def _finding(found: Finding) -> str:
    label = {"regions": "shown"}.get(found.verdict, found.verdict)
    head = f"{chip(label, KINDS[found.verdict])}<code>{text(found.question)}</code>"
    parts = [f"<h3>{head}</h3>", paragraph(found.why[:1].upper() + found.why[1:] + ".")]
    if found.source:
        parts.append(paragraph(f"Certificate: {found.source}", "note"))
    if found.regions:
        parts.append("<ul>" + "".join(f"<li>{text(each)}</li>" for each in found.regions) + "</ul>")
    if found.values and found.course is None:
        rows = [[text(name), _minus(f"{value!r}")] for name, value in found.values]
        parts.append(table(["the observation", "#value"], rows, "narrow"))
    if found.way or found.action:
        steps = "".join(
            f"<li>{text(each.question)}? {_minus(f'{each.value:.6g}')}: "
            f"<b>{'yes' if each.is_true else 'no'}</b></li>"
            for each in found.way
        )
        taken = f"<li>so the tree decides: <b>{text(found.action)}</b></li>"
        parts.append(f'<ol class="way">{steps}{taken}</ol>')
    if found.course is not None:
        names = [name for name, _ in found.values]
        start = ", ".join(f"{name} {value:.6g}" for name, value in found.values)
        drawing = charts.lines(names, found.course[:, : len(names)])
        parts.append(figure(drawing, _minus(f"Replayed from {start}.")))
    return f'<article class="finding">{"".join(parts)}</article>'


def exports(review: Review) -> str:
    """Every export, compared with the tree."""
    if not review.exports:
        return section(7, "Exports", paragraph("No export was asked for.", "note"))
    said = (
        "Each export was made anew and run beside the tree on random observations, on those one "
        "float away from each threshold and on some with NaN. The hashes are those of the files "
        "that crisptree export writes as policy.*."
    )
    rows = [_export(each) for each in review.exports]
    head = ["export", "check", "#observations", "file and SHA-256"]
    return section(7, "Exports", paragraph(said), table(head, rows, "hashes"))


def _export(check: ExportCheck) -> list[str]:
    files = "<br>".join(f"{text(name)} <code>{sha}</code>" for name, sha in check.files)
    why = f'<br><span class="note">{text(check.note)}</span>' if check.note else ""
    count = f"{check.observations:,}" if check.observations else ""
    return [text(check.language), chip(check.state, KINDS[check.state]) + why, count, files]


def files(review: Review) -> str:
    """All files that the page speaks of."""
    if not review.files:
        return section(8, "Files", paragraph("The policy came from no file.", "note"))
    rows = [[text(name), f"{size:,}", f"<code>{sha}</code>"] for name, size, sha in review.files]
    return section(8, "Files", table(["file", "#bytes", "SHA-256"], rows, "hashes"))


def signatures(review: Review) -> str:
    """What the page does not say, and room for names."""
    limits = (
        "Scores are a sample: an episode that was not played may be worse. A property about the "
        "tree holds for every observation; one about a closed loop holds for the model that it "
        "names, not for the plant beyond it. Exports were compared on the machine that made this "
        "page. The hashes above tie the page to the files."
    )
    rows = "".join(
        f"<tr><th>{who}</th><td></td><td></td><td></td></tr>"
        for who in ("Prepared by", "Reviewed by", "Approved by")
    )
    lines = (
        '<table class="sign"><thead><tr><th></th><th>name</th><th>date</th><th>signature</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
    )
    boxes = "".join(
        f"<span><i></i>{words}</span>"
        for words in ("accepted", "accepted with conditions", "rejected")
    )
    return section(
        9, "Limits and signatures", paragraph(limits), f'<p class="boxes">{boxes}</p>', lines
    )


def _span(values: np.ndarray) -> str:
    finite = values[np.isfinite(values)]
    return _minus(f"{finite.min():.4g} … {finite.max():.4g}") if len(finite) else ""


def _bound(value: float | None, otherwise: str) -> str:
    return otherwise if value is None or abs(value) > 1e30 else _minus(f"{value:.4g}")


def _percent(share: float) -> str:
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{share:.1%}".replace("%", " %")


def _minus(words: str) -> str:
    return words.replace("-", "−")
