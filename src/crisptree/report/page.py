"""The page: one HTML file without scripts that needs no network, prints well and can be signed."""

from functools import cache
from importlib.resources import files

from crisptree.envs.evaluate import digits
from crisptree.report import sections
from crisptree.report.elements import text, tile
from crisptree.report.review import Review
from crisptree.show.headline import size_of, title_of
from crisptree.show.html import refuse_too_large

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Nothing may be fetched and no script may run."""


def as_page(review: Review) -> str:
    """The text of the HTML file."""
    refuse_too_large(review.tree)
    body = "\n".join(
        part(review)
        for part in (
            sections.policy,
            sections.training,
            sections.scores,
            sections.tree,
            sections.rules,
            sections.properties,
            sections.exports,
            sections.files,
            sections.signatures,
        )
    )
    title = text(title_of(review.tree))
    made = f"crisptree {review.version}, {review.date}"
    command = f"<br><code>{text(review.command)}</code>" if review.command else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Review of a policy for {title}</title>
<style>
{_style()}</style>
</head>
<body>
<header>
<p class="kicker">Review of a policy</p>
<h1>{title}</h1>
<p class="sub">{text(size_of(review.tree))} · {text(review.name)}</p>
<div class="tiles">{"".join(tiles(review))}</div>
</header>
<main>
{body}
</main>
<footer>{text(made)}{command}</footer>
</body>
</html>
"""


def tiles(review: Review) -> list[str]:
    """The most important figures, at the top."""
    found = []
    if review.played is not None:
        score = review.played.score
        fmt = digits(score.returns, score.standard_error)
        error = score.standard_error
        spread = f"± {fmt(error)}, " if error is not None else ""
        label = f"{spread}mean of {len(score.returns):,} episodes"
        found.append(tile(fmt(score.mean).replace("-", "−"), label))
        found.append(tile(fmt(min(score.returns)).replace("-", "−"), "worst episode"))
    verdicts = [each.verdict for each in review.findings]
    for verdict, kind in (("proved", "good"), ("refuted", "bad"), ("undecided", "open")):
        if verdict in verdicts:
            found.append(tile(str(verdicts.count(verdict)), f"{verdict}", kind))
    if "rejected" in verdicts:
        found.append(tile(str(verdicts.count("rejected")), "certificates rejected", "bad"))
    checks = [each.state for each in review.exports]
    if checks:
        kind = "bad" if "differs" in checks else "good" if "equal" in checks else "open"
        words = f"{checks.count('equal')} of {len(checks)}"
        found.append(tile(words, "exports equal", kind))
    return found


@cache
def _style() -> str:
    return (files("crisptree.report") / "style.css").read_text(encoding="utf-8")
