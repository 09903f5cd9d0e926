"""Damaged files: bytes changed, cut or moved; JSON with values that no program writes."""

import json
from copy import deepcopy
from random import Random
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**9, 10**30, 0.5, -1.5, 1e308, float("inf"), float("nan")),
    *("", "nonsense", "\x1b[2J", "\u202e", "\x00", "a\nb", "</script>", "'; DROP", "x" * 10_000),
    *("evilmod:Evil-v0", "../../../etc/passwd", "\ud800"),
    *([], {}, [1, 2], [[[]]], {"a": 1}, [None], ["a"], [1e308] * 5),
)
DEEP = "[" * 100_000


def damaged(content: bytes, rng: Random) -> bytes:
    """A damaged copy of a file; of JSON, every second one is still JSON."""
    if rng.random() < 0.5:
        try:
            return _odd_json(content, rng)
        except ValueError:
            """It is not JSON."""
    return _odd_bytes(content, rng)


def _odd_bytes(content: bytes, rng: Random) -> bytes:
    data = bytearray(content)
    at = rng.randrange(len(data) + 1)
    length = rng.choice([1, 2, 10, 100])
    match rng.choice(["change", "change", "cut", "remove", "insert", "repeat", "empty", "deep"]):
        case "change":
            for _ in range(rng.choice([1, 1, 3, 30])):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case "cut":
            del data[at:]
        case "remove":
            del data[at : at + length]
        case "insert":
            data[at:at] = rng.choice([b"\x00", b"1e308", b"-", b"]", b"null", b"9" * 400, b"\xff"])
        case "repeat":
            data[at:at] = data[at : at + length]
        case "empty":
            data = bytearray(rng.choice([b"", b"{}", b"[]", b"[1,2]", b"null", b'""', b"7"]))
        case "deep":
            data = bytearray(DEEP.encode())
    return bytes(data)


def _odd_json(content: bytes, rng: Random) -> bytes:
    """One or a few values replaced, left out, added or doubled."""
    tree = json.loads(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        places = list(_places(tree))
        if not places:
            break
        holder, key = rng.choice(places)
        match rng.choice(["odd", "odd", "odd", "remove", "add", "swap"]):
            case "odd":
                holder[key] = deepcopy(rng.choice(ODD))
            case "remove":
                del holder[key]
            case "add" if isinstance(holder, dict):
                holder[rng.choice(["new", "", "\x1b[0m", "__class__"])] = deepcopy(rng.choice(ODD))
            case "add":
                holder.insert(key, deepcopy(rng.choice(ODD)))
            case "swap":
                other, at = rng.choice(places)
                holder[key] = deepcopy(other[at])
    return json.dumps(tree).encode()


def _places(tree: Any) -> Any:
    """Every place of a value: what holds it, and its key."""
    if isinstance(tree, dict | list):
        for key in range(len(tree)) if isinstance(tree, list) else tree:
            yield tree, key
            yield from _places(tree[key])
