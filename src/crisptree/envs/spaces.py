"""From observation spaces to named features. No JAX here.

A Box gives its numbers, a MultiBinary flags, a Discrete of few values a flag for each of them, a
Discrete of many values one ordered number, and a Discrete in between both, since its space does not
say whether it counts or names; a MultiDiscrete is several Discretes, a Dict or Tuple all that its
parts give, text left out. Other spaces, and pictures, are refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Feature
from crisptree.envs.encoder import Part, Path, SpaceEncoder
from crisptree.envs.names import Names

MOST_FEATURES = 4096
MOST_FLAGS = 16
"""A Discrete with at most this many values becomes flags."""
MOST_FLAGS_ALONE = 5
"""With more values than this it is a number as well: by flags alone, a tree would need three
questions or more to cut their order in the middle."""
BASIC = spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary
UNBOUNDED = 1e30
"""A bound beyond this stands for none: some environments write float32's greatest number."""


@dataclass(frozen=True)
class Value:
    """One number of a raw observation."""

    default_name: str
    low: float | None = None
    high: float | None = None
    n_categories: int = 0
    """How many values a Discrete takes, from `low` on; 0 for a plain number."""
    is_flag: bool = False


def encoder_of(
    space: gym.Space, env_name: str, names: Names, n_agents: int | None = None
) -> SpaceEncoder:
    """The encoder of an observation space, or a refusal in one line.

    With `n_agents`, the space is a Box `(agents, numbers)` and the features are one agent's.
    """
    parts, values, left_out = [], [], []
    for path, basic in _basic_spaces(space, (), env_name):
        if _is_text(basic):
            left_out.append(_base_name(path))
            continue
        shape = tuple(basic.shape or ())
        parts.append(Part(path, shape, str(basic.dtype)))
        values += _values_of(basic, path, n_agents)
        if len(values) > MOST_FEATURES:
            raise CrisptreeError(
                f"'{env_name}' has {_size(space):,} numbers an observation, as pictures have; a "
                f"readable tree needs features (at most {MOST_FEATURES:,}): a features function "
                "can compute them"
            )
    if not values:
        raise CrisptreeError(f"'{env_name}' has no numbers in its observations to decide on")
    features, source, equals = _features_of(values, names)
    plain = np.isnan(equals).all() and np.array_equal(source, np.arange(len(values)))
    return SpaceEncoder(
        env_name,
        tuple(parts),
        features,
        n_agents,
        None if plain else source,
        None if plain else equals,
        tuple(left_out),
    )


def _basic_spaces(space: gym.Space, path: Path, env_name: str) -> Iterator[tuple[Path, gym.Space]]:
    if isinstance(space, spaces.Dict):
        for key, inner in space.spaces.items():
            yield from _basic_spaces(inner, (*path, key), env_name)
    elif isinstance(space, spaces.Tuple):
        for at, inner in enumerate(space.spaces):
            yield from _basic_spaces(inner, (*path, at), env_name)
    elif isinstance(space, BASIC) or (path and _is_text(space)):
        yield path, space
    else:
        where = f" in {_base_name(path)}" if path else ""
        raise CrisptreeError(
            f"'{env_name}' has {type(space).__name__} observations{where}; crisptree takes Box, "
            "Discrete, MultiDiscrete, MultiBinary, and Dict or Tuple of them (a features function "
            "can make named numbers of anything)"
        )


def _is_text(space: gym.Space) -> bool:
    return space.dtype is not None and np.dtype(space.dtype).kind == "U"


def _size(space: gym.Space) -> int:
    if isinstance(space, spaces.Dict):
        return sum(_size(inner) for inner in space.spaces.values())
    if isinstance(space, spaces.Tuple):
        return sum(_size(inner) for inner in space.spaces)
    return int(np.prod(space.shape or (), dtype=np.int64))


def _values_of(space: gym.Space, path: Path, n_agents: int | None) -> list[Value]:
    """The numbers of a basic space, in the order of the flattened array."""
    if isinstance(space, spaces.Discrete):
        start, n = int(space.start), int(space.n)
        return [_category(_base_name(path), start, n)]
    shape = tuple(space.shape or ())
    if isinstance(space, spaces.MultiBinary):
        return [Value(name, 0.0, 1.0, is_flag=True) for name in _entry_names(path, shape)]
    if isinstance(space, spaces.MultiDiscrete):
        starts = np.broadcast_to(space.start, space.nvec.shape).ravel().tolist()
        sizes = space.nvec.ravel().tolist()
        entries = zip(_entry_names(path, shape), starts, sizes, strict=True)
        return [_category(name, start, n) for name, start, n in entries]
    assert isinstance(space, spaces.Box)
    low, high = space.low, space.high
    if n_agents is not None:
        low, high, shape = low[0], high[0], shape[1:]
    entries = zip(_entry_names(path, shape), low.ravel(), high.ravel(), strict=True)
    return [Value(name, _bound(least), _bound(most)) for name, least, most in entries]


def _category(name: str, start: int, n: int) -> Value:
    return Value(name, float(start), float(start + n - 1), n)


def _bound(number: Any) -> float | None:
    value = float(number)
    return value if abs(value) < UNBOUNDED else None


def _base_name(path: Path) -> str:
    """`observation`, `key`, `key.inner`, `observation[0]`."""
    name = ""
    for key in path:
        if isinstance(key, int):
            name = f"{name or 'observation'}[{key}]"
        else:
            name = f"{name}.{key}" if name else key
    return name or "observation"


def _entry_names(path: Path, shape: tuple[int, ...]) -> list[str]:
    """x0, x1, … for a flat observation; `key[2]`, `key[1][0]` for the entries of a part."""
    if not path and len(shape) <= 1:
        return [f"x{at}" for at in range(int(np.prod(shape, dtype=np.int64)))]
    base = _base_name(path)
    return [base + "".join(f"[{i}]" for i in index) for index in np.ndindex(*shape)]


def _features_of(
    values: list[Value], names: Names
) -> tuple[tuple[Feature, ...], np.ndarray, np.ndarray]:
    """The features, the raw number each comes from, and the value it is a flag for."""
    given = names.of_values(len(values))
    features: list[Feature] = []
    source: list[int] = []
    equals: list[float] = []

    def add(at: int, feature: Feature, flag_for: float = np.nan) -> None:
        features.append(feature)
        source.append(at)
        equals.append(flag_for)

    # Metadata that name the features themselves name flags, and give them a meaning by that.
    are_flags_named = names.given is not None and given is None
    for at, value in enumerate(values):
        name = given[at] if given else value.default_name
        if _is_number_as_well(value, name, names) and not are_flags_named:
            add(at, Feature(name, "category", value.low, value.high))
        for feature, flag_for in _features_of_value(value, name, names, named=bool(given)):
            add(at, feature, flag_for)
    built = tuple(feature.name for feature in features)
    final = names.of_features(built, from_values=given is not None)
    renamed = tuple(
        replace(feature, name=name) for name, feature in zip(final, features, strict=True)
    )
    return renamed, np.array(source), np.array(equals, np.float32)


def _is_number_as_well(value: Value, name: str, names: Names) -> bool:
    """Whether a Discrete that becomes flags may count something: no value of it has a meaning."""
    has_meanings = bool(names.categories_of(name, value.n_categories))
    is_between = MOST_FLAGS_ALONE < value.n_categories <= MOST_FLAGS
    return is_between and not has_meanings and name not in names.ordered


def _features_of_value(
    value: Value, name: str, names: Names, *, named: bool
) -> Iterator[tuple[Feature, float]]:
    if value.n_categories == 0:
        kind = "flag" if value.is_flag or name in names.flags else "number"
        yield Feature(name, kind, value.low, value.high), np.nan
        return
    assert value.low is not None
    categories = names.categories_of(name, value.n_categories)
    if name in names.ordered or value.n_categories > MOST_FLAGS:
        yield Feature(name, "category", value.low, value.high, categories), np.nan
    elif value.n_categories == 2 and named and not categories:
        yield Feature(name, "flag", 0.0, 1.0), value.low + 1
    else:
        shown = categories or tuple(str(int(value.low) + k) for k in range(value.n_categories))
        flags = range(1, 2) if value.n_categories == 2 else range(value.n_categories)
        for k in flags:
            yield Feature(f"{name} is {shown[k]}", "flag", 0.0, 1.0), value.low + k
