"""What the page is told about a policy: plain JSON, safe inside HTML."""

import base64
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.text import printable
from crisptree.crisp import Condition, CrispTree
from crisptree.show.canvas import colour_of, ink_on
from crisptree.show.chain import as_chain
from crisptree.show.film import FRAMES_PER_CHUNK, Film
from crisptree.show.replay import Episode, Replay
from crisptree.show.svg import FEWEST_RULES_IN_A_COLUMN, MOST_LEAVES_DOWNWARDS
from crisptree.show.words import Words

LONGEST_TRAINING = 20_000


def page_data(tree: CrispTree, words: Words, replay: Replay) -> dict[str, Any]:
    """Everything the page's scripts read."""
    states = replay.states if replay.episodes else None
    visits, seen = (None, None) if states is None else _visits(tree, states)
    ranges = _ranges(tree, states)
    start = [(low + high) / 2 for low, high in ranges]
    return {
        "nodes": {
            name: getattr(tree, name).tolist()
            for name in ("feature", "threshold", "if_true", "if_false", "action")
        },
        "thresholds": [
            words.numbers.of(feature, threshold) if feature >= 0 else ""
            for feature, threshold, _, _ in tree.nodes
        ],
        "where": _where(tree, words),
        "features": words.features,
        "actions": words.actions,
        "colours": [colour_of(action) for action in range(tree.n_actions)],
        "inks": [ink_on(colour_of(action)) for action in range(tree.n_actions)],
        "rules": _rules(tree, words),
        "chain": _chain(tree),
        "downwards": tree.n_leaves <= MOST_LEAVES_DOWNWARDS,
        "ranges": ranges,
        "start": start if states is None else states[0].astype(float).tolist(),
        "visits": visits,
        "seen": seen,
        "states": 0 if states is None else len(states),
        "episodes": [_episode(each) for each in replay.episodes],
        "chunk": FRAMES_PER_CHUNK,
        "fps": replay.fps,
        "note": printable(replay.note),
        "training": _training(tree),
    }


def in_html(data: Any) -> str:
    """JSON that no HTML parser takes for markup."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _where(tree: CrispTree, words: Words) -> list[str]:
    """For every node in words: under which conditions it is reached."""
    found = [""] * tree.n_nodes
    waiting: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        found[node] = words.conditions(tuple(path.values()))
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature >= 0:
            known = path.get(feature, Condition(feature))
            above = known._replace(above=max(known.above, threshold))
            at_most = known._replace(at_most=min(known.at_most, threshold))
            waiting.append((if_true, {**path, feature: above}))
            waiting.append((if_false, {**path, feature: at_most}))
    return found


def _rules(tree: CrispTree, words: Words) -> list[dict[str, Any]]:
    chain = as_chain(tree)
    if chain is None:
        every = [(rule.leaf, words.conditions(rule.conditions)) for rule in tree.rules()]
    else:
        every = []
        for node, answer, leaf in chain.links:
            feature, threshold, _, _ = tree.nodes[node]
            start = "else if " if every else "if "
            every.append((leaf, start + words.comparison(feature, threshold, answer)))
        every.append((chain.otherwise, "otherwise" if every else "always"))
    return [{"leaf": leaf, "text": text} for leaf, text in every]


def _chain(tree: CrispTree) -> dict[str, Any] | None:
    chain = as_chain(tree)
    if chain is None or len(chain.links) < FEWEST_RULES_IN_A_COLUMN:
        return None
    return {"links": [link._asdict() for link in chain.links], "otherwise": chain.otherwise}


def _visits(tree: CrispTree, states: NDArray) -> tuple[list[int], list[list[float] | None]]:
    """How many states pass each node, and between which values of its feature they lie."""
    visits = [0] * tree.n_nodes
    seen: list[list[float] | None] = [None] * tree.n_nodes
    waiting = [(0, np.asarray(states, np.float64))]
    while waiting:
        node, here = waiting.pop()
        visits[node] = len(here)
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature >= 0:
            column = here[:, feature]
            if len(here):
                seen[node] = [float(column.min()), float(column.max())]
            goes_true = column > threshold
            waiting.append((if_true, here[goes_true]))
            waiting.append((if_false, here[~goes_true]))
    return visits, seen


def _ranges(tree: CrispTree, states: NDArray | None) -> list[list[float]]:
    """How far each slider goes: all thresholds and all seen values, and a fifth more."""
    ranges = []
    for feature in range(tree.n_features):
        values = tree.threshold[tree.feature == feature].tolist()
        if states is not None:
            values += [float(states[:, feature].min()), float(states[:, feature].max())]
        low, high = (min(values), max(values)) if values else (-1.0, 1.0)
        room = (high - low) / 5 or max(abs(low), 1.0)
        if not math.isfinite(room) or not math.isfinite(low - room + high + room):
            room = 0.0
        ranges.append([low - room, high + room])
    return ranges


def _episode(episode: Episode) -> dict[str, Any]:
    return {
        "seed": episode.seed,
        "agents": episode.observations.shape[1],
        "observations": _base64(np.asarray(episode.observations, "<f8").tobytes()),
        "rewards": _base64(np.asarray(episode.rewards, "<f8").tobytes()),
        "ended": episode.ended,
        "stride": episode.stride,
        "film": None if episode.film is None else _film(episode.film),
    }


def _film(film: Film) -> dict[str, Any]:
    return {
        "width": film.width,
        "height": film.height,
        "palette": _base64(film.palette.tobytes()),
        "chunks": [_base64(chunk) for chunk in film.chunks],
        "length": film.length,
    }


def _training(tree: CrispTree) -> str:
    if not tree.training:
        return ""
    text = json.dumps(dict(tree.training), indent=2, ensure_ascii=False)
    return text if len(text) <= LONGEST_TRAINING else text[:LONGEST_TRAINING] + "\n…"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
