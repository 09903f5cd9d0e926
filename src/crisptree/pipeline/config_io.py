"""A configuration from the few settings that matter, as plain JSON, read strictly, and named by its
hash."""

import dataclasses
import difflib
import hashlib
import json
import shlex
import types
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text, write_atomically
from crisptree.base.text import printable
from crisptree.pipeline.config import RACED, SIZE_NAMES, TrainConfig

PROCEDURE = 3
"""Rises when the same configuration comes to mean something else."""
IRRELEVANT = ("candidates.workers", "candidates.executor")
"""Fields that a run's outcome does not depend on: how many learn at the same time, and where."""

Config = TypeVar("Config")


QUICK_MINUTES = 0.8


def to_dict(config: Any) -> dict[str, Any]:
    """The configuration in JSON's own types."""
    return json.loads(json.dumps(dataclasses.asdict(config)))


def from_dict(kind: type[Config], content: Any, where: str = "config") -> Config:
    """The configuration that `content` describes; an error names the field at fault.

    Fields that are missing keep their defaults.
    """
    if not isinstance(content, dict):
        raise CrisptreeError(f"{where} must be an object with fields, not {_brief(content)}")
    hints = get_type_hints(kind)
    names = [each.name for each in dataclasses.fields(kind)]  # pyright: ignore[reportArgumentType]
    for name in content:
        if name not in names:
            raise CrisptreeError(f"{where} has no field '{name}'{_suggestion(name, names)}")
    for each in dataclasses.fields(kind):  # pyright: ignore[reportArgumentType]
        is_open = each.default is each.default_factory is dataclasses.MISSING
        if is_open and each.name not in content:
            raise CrisptreeError(f"{where} has no '{each.name}'")
    values = {name: _read(hints[name], content[name], f"{where}.{name}") for name in content}
    return kind(**values)


def known_fields(kind: Any, content: Any) -> Any:
    """`content` without the fields that `kind` and the dataclasses within it do not have."""
    if not dataclasses.is_dataclass(kind) or not isinstance(content, dict):
        return content
    hints = get_type_hints(kind)
    return {name: known_fields(hints[name], content[name]) for name in content if name in hints}


def load(path: str | Path) -> TrainConfig:
    """The configuration in a file: one that was written by hand, or a run's `config.json`."""
    try:
        content = json.loads(read_text(path))
    except CrisptreeError:
        raise
    except OSError as error:
        raise CrisptreeError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CrisptreeError(f"{path} is not JSON: {error}") from error
    if isinstance(content, dict) and isinstance(content.get("config"), dict):
        content = content["config"]
    return from_dict(TrainConfig, content, str(path))


def check_named(config: TrainConfig, named: Collection[str | None], where: Path) -> None:
    """Refuse a file's configuration that names code, unless the caller has named it too.

    A file never gets code imported: neither a features function nor a teacher that is no policy
    file.
    """
    features, teacher = config.env.features, config.teacher.policy
    if teacher is not None and (teacher.endswith(".json") or Path(teacher).is_dir()):
        teacher = None
    for option, name in (("--features", features), ("--teacher", teacher)):
        if name is not None and name not in named:
            shown = printable(name)
            raise CrisptreeError(
                f"{where} names the code '{shown}', and a file never makes crisptree import any: "
                f"if you trust it, say {option} {shown}"
            )


def save(config: TrainConfig, path: str | Path) -> None:
    """Write the configuration as JSON, all of it or nothing."""
    write_atomically(Path(path), json.dumps(to_dict(config), indent=2) + "\n")


def digest(content: Any) -> str:
    """A hash of sixteen hex digits of anything that JSON can hold."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def config_hash(config: TrainConfig) -> str:
    """The hash of a configuration: equal for equal runs."""
    content = to_dict(config)
    for path in IRRELEVANT:
        *folders, name = path.split(".")
        part = content
        for folder in folders:
            part = part[folder]
        del part[name]
    return digest({"procedure": PROCEDURE, "config": content})


def asked_config(
    base: TrainConfig,
    *,
    leaves: int | None = None,
    rules: int | None = None,
    mlp: int | None = None,
    leaf: str | None = None,
    gains: int | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    budget: float | None = None,
    steps: int | None = None,
    quick: bool = False,
    episodes: int | None = None,
    teacher: str | None = None,
    direct: bool = False,
    start_from: str | None = None,
    paper: bool = False,
    features: str | None = None,
    derive: bool = False,
    worst_case: bool = False,
    overrides: dict[str, Any] | None = None,
) -> TrainConfig:
    """`base` with what was asked for; what was left out stays as it is."""
    sizes = {"tree": leaves, "list": rules, "mlp": mlp}
    given = [(kind, size) for kind, size in sizes.items() if size is not None]
    for kind, size in given:
        if type(size) is not int:
            raise CrisptreeError(f"{SIZE_NAMES[kind]} must be a whole number, not {size!r}")
    if len(given) > 1:
        one, other = (SIZE_NAMES[kind] for kind, _ in given[:2])
        raise CrisptreeError(f"{one} and {other} exclude each other: give one")
    if direct and (teacher is not None or start_from is not None):
        raise CrisptreeError("direct starts from nothing: leave out teacher and start-from")
    if paper and (direct or teacher is not None or start_from is not None):
        raise CrisptreeError("the paper's way starts from nothing: leave out teacher, start-from")
    if teacher is not None and start_from is not None:
        raise CrisptreeError("teacher and start-from exclude each other: give one")
    if budget is not None and steps is not None:
        raise CrisptreeError("budget and steps exclude each other: give one")
    if quick and (budget is not None or steps is not None):
        raise CrisptreeError("quick is a budget of its own: leave out budget and steps")
    changes: dict[str, Any] = {
        "policy.leaf": leaf,
        "policy.gains": gains,
        "seed": seed,
        "seeds": seeds,
        "budget": QUICK_MINUTES if quick else budget,
        "steps": steps,
        "episodes": episodes,
        "start_from": start_from,
        "paper.enabled": True if paper else None,
        "env.features": features,
        "derive.enabled": True if derive else None,
        "worst_case.enabled": True if worst_case else None,
    }
    if given:
        changes["policy.kind"], changes["policy.size"] = given[0]
    if direct:
        changes["candidates.beginnings"] = ["direct"]
    elif teacher in RACED:
        changes["candidates.beginnings"] = [teacher]
    elif teacher is not None:
        changes["teacher.policy"] = teacher
    if budget is not None or quick:
        base = replace(base, steps=None)
    if steps is not None:
        base = replace(base, budget=None)
    wanted = {name: value for name, value in changes.items() if value is not None}
    return with_overrides(base, {**wanted, **(overrides or {})})


def with_overrides(config: TrainConfig, overrides: dict[str, Any]) -> TrainConfig:
    """`config` with fields set by their dotted names: `{"ppo.gamma": 0.97}`."""
    content = to_dict(config)
    for path, value in overrides.items():
        *folders, name = path.split(".")
        part = content
        for folder in folders:
            part = part.get(folder)
            if not isinstance(part, dict):
                raise CrisptreeError(f"config has no field '{path}'")
        if not folders and name not in content:
            names = [*fields_named(name), *content]
            raise CrisptreeError(f"config has no field '{name}'{_suggestion(name, names)}")
        part[name] = value
    return from_dict(TrainConfig, content)


def differences(config: TrainConfig, base: TrainConfig | None = None) -> dict[str, Any]:
    """Dotted names and values of all fields in which `config` differs from `base` (by default, the
    defaults)."""
    theirs = _flat(to_dict(TrainConfig() if base is None else base))
    return {name: value for name, value in _flat(to_dict(config)).items() if theirs[name] != value}


SHORT = {"start_from": "start-from", "teacher.policy": "teacher"}


def command(config: TrainConfig) -> str:
    """The command line that asks for this configuration."""
    changed = differences(config)
    words = ["crisptree", "train", shlex.quote(changed.pop("env.id", "") or "ENV")]
    changed.pop("policy.kind", None)
    size = changed.pop("policy.size", None)
    if size is not None:
        words += [f"--{SIZE_NAMES[config.policy.kind]}", str(size)]
    if changed.pop("paper.enabled", False):
        words.append("--paper")
    for name, value in changed.items():
        flag = f"--{SHORT.get(name, name).replace('_', '-')}"
        if isinstance(value, list):
            words += [flag, *(shlex.quote(str(each)) for each in value)]
        elif isinstance(value, bool):
            words += [flag, str(value)]
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            words += [flag, shlex.quote(text)]
    return " ".join(words)


def fields_named(name: str) -> list[str]:
    """Dotted names of the fields that end in `name`: `ppo.gamma` and others for `gamma`."""
    return [each for each in _flat(to_dict(TrainConfig())) if each.endswith(f".{name}")]


def _flat(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict) and f"{prefix}{name}" != "env.kwargs":
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def _read(kind: Any, value: Any, where: str) -> Any:
    """`value` as the type that a field has."""
    origin = get_origin(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return from_dict(kind, value, where)  # pyright: ignore[reportArgumentType]
    if origin in (Union, types.UnionType):
        options = get_args(kind)
        if value is None and type(None) in options:
            return None
        (only,) = [option for option in options if option is not type(None)]
        return _read(only, value, where)
    if origin is Literal:
        if value not in get_args(kind):
            known = ", ".join(map(str, get_args(kind)))
            raise CrisptreeError(f"{where} is {_brief(value)}; it may be {known}")
        return value
    if origin is tuple:
        return _tuple(get_args(kind), value, where)
    if origin is dict or kind is dict:
        if not isinstance(value, dict):
            raise CrisptreeError(f"{where} must be an object, not {_brief(value)}")
        of = get_args(kind)[1] if get_args(kind) else Any
        return {str(name): _read(of, each, f"{where}.{name}") for name, each in value.items()}
    if kind is float and type(value) in (int, float):
        return float(value)
    if type(value) is not kind:
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
        raise CrisptreeError(f"{where} must be {words[kind]}, not {_brief(value)}")
    return value


def _tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise CrisptreeError(f"{where} must be a list, not {_brief(value)}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        raise CrisptreeError(f"{where} must have {len(kinds)} values, not {len(value)}")
    pairs = zip(kinds, value, strict=True)
    return tuple(_read(kind, each, f"{where}[{i}]") for i, (kind, each) in enumerate(pairs))


def _suggestion(name: str, names: list[str]) -> str:
    close = [each for each in names if each.endswith(f".{name}")]
    close += difflib.get_close_matches(name, names, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(names)}"


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"
