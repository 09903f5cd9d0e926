"""What the page is told about a policy: plain JSON, safe inside HTML."""

import base64
import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.text import printable
from crisptree.crisp import CrispTree, Visit
from crisptree.show.action_styles import ActionStyles, LegendEntry
from crisptree.show.palette import NEUTRAL, Style
from crisptree.show.recording import RecordedEpisode, Recording
from crisptree.show.rounding import exact
from crisptree.show.rule_list import as_rule_list
from crisptree.show.svg import FEWEST_RULES_IN_A_COLUMN, MOST_LEAVES_DOWNWARDS
from crisptree.show.text_formats import rules_in_words
from crisptree.show.video import FRAMES_PER_CHUNK, Video
from crisptree.show.visits import histograms, visit_counts
from crisptree.show.wording import Wording

LONGEST_TRAINING = 20_000
LARGEST = sys.float_info.max


def page_data(
    tree: CrispTree, wording: Wording, recording: Recording, states: NDArray
) -> dict[str, Any]:
    """Everything the page's scripts read; `states` `(states, features)` may be none at all."""
    styles = ActionStyles(tree, wording)
    columns = tree.columns(states)
    ranges = [_range(tree, feature, columns) for feature in range(len(tree.features))]
    shapes = histograms(tree, states)
    return {
        "nodes": [
            _node(tree, wording, styles, visit) | {"histogram": shapes[visit.node]}
            for visit in sorted(tree.walk(), key=lambda visit: visit.node)
        ],
        "visits": visit_counts(tree, states).tolist() if len(states) else None,
        "states": len(states),
        "features": [
            {
                "name": name,
                "kind": feature.kind,
                "first": int(feature.low or 0) if feature.kind == "category" else 0,
                "categories": [printable(category) for category in feature.categories],
                "range": span,
                "terms": [list(term) for term in feature.terms],
            }
            for name, feature, span in zip(wording.features, tree.features, ranges, strict=True)
        ],
        "start": _start(tree, recording, states, ranges),
        "actions": _actions(tree, wording, styles),
        "legend": [
            {"label": entry.label, **_style(entry.style)}
            if isinstance(entry, LegendEntry)
            else entry._asdict()
            for entry in styles.legend()
        ],
        "rules": [{"leaf": leaf, "text": text} for text, leaf in rules_in_words(tree, wording)],
        "list": _list(tree),
        "downwards": tree.n_leaves <= MOST_LEAVES_DOWNWARDS,
        "episodes": [_episode(each) for each in recording.episodes],
        "chunk": FRAMES_PER_CHUNK,
        "fps": recording.fps,
        "note": printable(recording.note),
        "training": _training(tree),
    }


def in_html(data: Any) -> str:
    """JSON that no HTML parser takes for markup."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _node(tree: CrispTree, wording: Wording, styles: ActionStyles, visit: Visit) -> dict[str, Any]:
    """A node: where it leads, what it says, when it is reached."""
    where = wording.conditions(tuple(visit.conditions.values()))
    if not visit.is_leaf:
        return {
            "feature": visit.feature,
            "threshold": visit.threshold,
            "yes": visit.if_true,
            "no": visit.if_false,
            "where": where,
            "question": wording.question(visit.node),
            "answers": [wording.answer(visit.node, answer) for answer in (False, True)],
            "tests": [wording.test(visit.node, answer) for answer in (False, True)],
            "flag": wording.is_flag(visit.feature, visit.threshold),
            "exact": exact(visit.threshold).replace("-", "−"),
        }
    action = tree.action[visit.node].tolist()
    parts = wording.actions.lines(visit.node)
    swatches = styles.swatches(visit.node) or (None,) * len(parts)
    return {
        "feature": -1,
        "where": where,
        "text": wording.actions.of(visit.node),
        "lines": [
            [text, None if at else swatch]
            for part, swatch in zip(parts, swatches, strict=True)
            for at, text in enumerate(part)
        ],
        "values": action if isinstance(action, list) else [action],
        "gains": [list(gain) for gain in tree.gains[visit.node]],
        **_style(styles.of(visit.node)),
    }


def _style(style: Style) -> dict[str, str]:
    """A style for the page; a neutral one has the page's own colours, light or dark."""
    if style == NEUTRAL:
        return {"fill": "", "on": "", "border": ""}
    return {"fill": style.fill, "on": style.text, "border": style.border}


def _actions(tree: CrispTree, wording: Wording, styles: ActionStyles) -> dict[str, Any]:
    """The kind of the actions and, of a real vector, its names, bounds and colours."""
    return {
        "kind": tree.actions.kind,
        "names": wording.actions.names if styles.scales else [],
        "note": wording.actions.bounds_note(),
        "scales": [
            {"low": scale.low, "high": scale.high, "colours": scale.sampled()}
            for scale in styles.scales
        ],
    }


def _list(tree: CrispTree) -> dict[str, Any] | None:
    """The rules in their order, if the page is to draw a list."""
    listed = as_rule_list(tree)
    if listed is None or len(listed.rules) < FEWEST_RULES_IN_A_COLUMN:
        return None
    return {"rules": [rule._asdict() for rule in listed.rules], "otherwise": listed.otherwise}


def _range(tree: CrispTree, feature: int, states: NDArray) -> list[float]:
    """How far a slider goes: all thresholds and all seen values, and a fifth more on either side,
    but not beyond what the environment gives."""
    about = tree.features[feature]
    values = tree.threshold[tree.feature == feature].tolist()
    if about.kind == "flag":
        return [0.0, 1.0]
    if about.kind == "category" and about.low is not None and about.high is not None:
        return [float(about.low), float(about.high)]
    seen = np.asarray(states[:, feature], np.float64)
    seen = seen[np.isfinite(seen)]
    values += [float(seen.min()), float(seen.max())] if len(seen) else []
    low, high = (min(values), max(values)) if values else (-1.0, 1.0)
    room = (high / 5 - low / 5) or abs(low) or 1.0
    low, high = max(low - room, -LARGEST), min(high + room, LARGEST)
    least = -LARGEST if about.low is None else about.low
    most = LARGEST if about.high is None else about.high
    clamped = [max(low, least), min(high, most)]
    return clamped if clamped[0] < clamped[1] else [low, high]


def _start(
    tree: CrispTree, recording: Recording, states: NDArray, ranges: list[list[float]]
) -> list[float]:
    """The first observation: the recording's, or a state, or the middle of every slider."""
    known = recording.episodes[0].observations[0] if recording.episodes else states[:1]
    if len(known) and np.isfinite(known[0]).all():
        return known[0].astype(float).tolist()
    return [
        low / 2 + high / 2 if feature.kind == "number" else low
        for feature, (low, high) in zip(tree.features, ranges, strict=True)
        if not feature.terms
    ]


def _episode(episode: RecordedEpisode) -> dict[str, Any]:
    single = episode.observations.dtype == np.float32
    observations = np.asarray(episode.observations, "<f4" if single else "<f8")
    return {
        "seed": episode.seed,
        "agents": episode.observations.shape[1],
        "single": bool(single),
        "observations": _base64(observations.tobytes()),
        "rewards": _base64(np.asarray(episode.rewards, "<f8").tobytes()),
        "ended": episode.ended,
        "stride": episode.stride,
        "video": None if episode.video is None else _video(episode.video),
    }


def _video(video: Video) -> dict[str, Any]:
    return {
        "width": video.width,
        "height": video.height,
        "palette": _base64(video.palette.tobytes()),
        "chunks": [_base64(chunk) for chunk in video.chunks],
        "length": video.length,
    }


def _training(tree: CrispTree) -> str:
    if not tree.training:
        return ""
    text = json.dumps(dict(tree.training), indent=2, ensure_ascii=False)
    return text if len(text) <= LONGEST_TRAINING else text[:LONGEST_TRAINING] + "\n…"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
