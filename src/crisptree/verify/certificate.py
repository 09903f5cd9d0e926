"""A proof as a file that can be checked again: a JSON object with the covers packed inside.

    {"format": "crisptree.certificate", "version": 1,
     "policy": {"sha256": …, "env_id": …},
     "plant": {"name": …, "samples": [{"state", "action", "disturbance", "next"}, …]},
     "property": "from … stays …", "claim": {…},
     "proof": {"lines", "is_full", "units", "stride", "closes", "with_forms", "layers"},
     "made": {…}, "sha256": …}

Where pieces of the start are followed as tubes, the proof is `{"halved": "0 . 2 . ."}`: the state
along which a piece is halved or a dot, each piece before its halves. `sha256` at the end is that of
everything before it. `checker.py` says when a certificate holds.
"""

import base64
import hashlib
import json
import lzma
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text, write_atomically
from crisptree.crisp import CrispTree
from crisptree.verify.cells import Cover, Grid
from crisptree.verify.claims import Claim
from crisptree.verify.plants.plant import Plant
from crisptree.verify.reach import Attempt
from crisptree.verify.tubes import TubeAttempt

FORMAT, VERSION = "crisptree.certificate", 1
SAMPLES = 16
LARGEST_FILE = 200_000_000


def policy_hash(tree: CrispTree) -> str:
    """The hash of what a policy does: its nodes, leaves and bounds, without names and history."""
    actions = tree.actions
    content = {
        "nodes": [list(node) for node in tree.nodes],
        "action": tree.action.tolist(),
        "gains": [[list(gain) for gain in gains] for gains in tree.gains],
        "features": tree.n_features,
        "kind": actions.kind,
        "actions": len(actions.names),
        "low": list(actions.low),
        "high": list(actions.high),
        "dtype": actions.dtype,
    }
    return hashlib.sha256(_canonical(content)).hexdigest()


def certificate(
    tree: CrispTree,
    plant: Plant,
    claim: Claim,
    question: str,
    attempt: Attempt | TubeAttempt,
    *,
    made: Mapping[str, Any],
) -> dict[str, Any]:
    """The object that stands for a proof."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "policy": {"sha256": policy_hash(tree), "env_id": tree.env_id},
        "plant": {"name": plant.name, "samples": samples(plant)},
        "property": question,
        "claim": claim.to_dict(),
        "proof": _proof(attempt),
        "made": dict(made),
    }
    return {**content, "sha256": digest(content)}


def _proof(attempt: Attempt | TubeAttempt) -> dict[str, Any]:
    if isinstance(attempt, TubeAttempt):
        return {"halved": " ".join("." if axis < 0 else str(axis) for axis in attempt.halved)}
    grid = attempt.grid
    return {
        "lines": [list(lines) for lines in grid.lines],
        "is_full": list(grid.is_full),
        "units": list(grid.units),
        "stride": attempt.stride,
        "closes": attempt.closes,
        "with_forms": attempt.with_forms,
        "layers": [packed(layer, grid) for layer in attempt.layers],
    }


def digest(content: Mapping[str, Any]) -> str:
    """The hash of a certificate without its own `sha256`."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return hashlib.sha256(_canonical(rest)).hexdigest()


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def packed(cover: Cover, grid: Grid) -> dict[str, Any]:
    """A cover as few characters: cell numbers and, along states where boxes are narrower than
    their cells, bounds in units; each number less the one before it, compressed."""
    columns, bounded = [cover.keys], []
    cells = grid.cells_of(cover.keys)
    for at, edges in enumerate(grid.edges):
        if _is_implied(grid, at, cells):
            continue
        bounded.append(at)
        bottom, top = edges[cells[:, at]], edges[cells[:, at] + 1]
        low = np.where(cover.low[:, at] > bottom, cover.low[:, at], bottom)
        high = np.where(cover.high[:, at] < top, cover.high[:, at], top)
        columns.append(np.floor(low / grid.units[at]).astype(np.int64))
        columns.append(np.ceil(high / grid.units[at]).astype(np.int64))
    numbers = np.stack(columns) if len(cover) else np.empty((len(columns), 0), np.int64)
    steps = np.diff(numbers, axis=1, prepend=0).astype("<i8")
    planes = steps.view(np.uint8).reshape(*steps.shape, 8).transpose(0, 2, 1)
    data = lzma.compress(np.ascontiguousarray(planes).tobytes(), preset=6)
    return {"boxes": len(cover), "bounded": bounded, "data": base64.b85encode(data).decode()}


def _is_implied(grid: Grid, at: int, cells: np.ndarray) -> bool:
    """Whether boxes are as wide as their cells, all of which have ends."""
    if not grid.is_full[at]:
        return False
    inner = (cells[:, at] > 0) & (cells[:, at] < len(grid.lines[at]))
    return bool(inner.all())


def samples(plant: Plant, seed: int = 0) -> list[dict[str, Any]]:
    """A few steps of the plant, by which another plant of the same name is told from it."""
    rng = np.random.default_rng(seed)
    box, acting = plant.reset_box, plant.disturbance_box
    found = []
    for _ in range(SAMPLES):
        state = rng.uniform(box[:, 0], np.maximum(box[:, 1], box[:, 0] + 1e-3))
        disturbance = rng.uniform(acting[:, 0], acting[:, 1])
        action = _some_action(plant, rng)
        after = plant.play(state[None], np.array([action]), disturbance[None])[0]
        found.append(
            {
                "state": state.tolist(),
                "action": action,
                "disturbance": disturbance.tolist(),
                "next": after.tolist(),
            }
        )
    return found


def _some_action(plant: Plant, rng: np.random.Generator) -> Any:
    actions = plant.actions
    if actions.kind == "discrete":
        return int(rng.integers(len(actions.names)))
    if actions.kind == "multi_discrete":
        return [int(rng.integers(len(part))) for part in actions.choices]
    return rng.uniform(actions.low, actions.high).tolist()


def write(path: str | PathLike[str], content: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The object in a certificate's file."""
    try:
        content = json.loads(read_text(path, LARGEST_FILE))
    except (OSError, ValueError, RecursionError) as error:
        raise CrisptreeError(f"cannot read the certificate {path}: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CrisptreeError(f"{path} is no certificate of crisptree")
    if content.get("version") != VERSION:
        raise CrisptreeError(f"{path} is a certificate of version {content.get('version')!r:.20}")
    return content
