"""The sources of what users name or give: ids, modules' callables, factories, objects.

Only what a user names is imported: a name that merely stands in a file must not come here
(`task.task_of_policy` sees to that).
"""

import copy
import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gymnasium as gym

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp.metadata import plain_json
from crisptree.envs.guard import guarded, reason
from crisptree.envs.source import SUITES, EnvSource, qualified_name


def source_of(
    env: Any, env_kwargs: Mapping[str, Any] | None = None, features: Any = None
) -> EnvSource:
    """The source of whatever the user names or gives: an `Env`, and a feature function or its
    name; anything else is refused."""
    kwargs = dict(env_kwargs or {})
    if isinstance(env, str):
        source = _source_of_name(env, _json(kwargs, env))
    elif isinstance(env, gym.Env):
        if kwargs:
            raise CrisptreeError("env_kwargs go with an id or a factory, not with an environment")
        source = _source_of_object(env)
    elif callable(env):
        source = _source_of_factory(env, kwargs)
    else:
        raise CrisptreeError(
            f"an environment is an id, a gymnasium.Env or a function that makes one, not "
            f"{type(env).__name__}"
        )
    return source if features is None else _with_features(source, features)


def _source_of_factory(factory: Any, kwargs: dict[str, Any]) -> EnvSource:
    """A function or class; a file can say it where a module has it and JSON has its arguments."""
    name = _importable_name(factory)
    try:
        return EnvSource(name, plain_json("env_kwargs", kwargs) if name else kwargs, factory)
    except CrisptreeError:
        return EnvSource(None, kwargs, factory)


def _source_of_name(name: str, kwargs: dict[str, Any]) -> EnvSource:
    module, colon, attribute = name.rpartition(":")
    if not colon:
        return EnvSource(name, kwargs)
    if module in SUITES:
        return EnvSource(name, kwargs, partial(_make_of_suite, module, attribute))
    imported = import_by_name(module, f"environment '{printable(name)}'")
    found: Any = getattr(imported, attribute, None) if attribute.isidentifier() else None
    if found is None:
        return EnvSource(name, kwargs)
    if not callable(found):
        raise CrisptreeError(
            f"'{printable(name)}' is {type(found).__name__}; an environment class or a function "
            "that makes one would be right"
        )
    factory: Any = found
    return EnvSource(name, kwargs, factory)


def _make_of_suite(suite: str, env_id: str, **kwargs: Any) -> gym.Env:
    from crisptree.envs.jax_suites import make_of_suite

    return make_of_suite(suite, env_id, **kwargs)


def _source_of_object(env: gym.Env) -> EnvSource:
    """Copies of a given environment: deep copies, so that whatever was changed in it counts; by
    its specification where it cannot be copied (physics engines in C often cannot)."""
    spec = env.spec
    name, kwargs = (None, {}) if spec is None else _what_a_file_says(spec)
    try:
        copy.deepcopy(env)
    except Exception as error:
        shown = printable(spec.id if spec else type(env.unwrapped).__name__)
        why = reason(error)
        if spec is not None:
            try:
                gym.make(spec).close()
            except Exception as again:
                why = reason(again)
            else:
                return EnvSource(name, kwargs, _RemadeEnv(spec))
        raise CrisptreeError(
            f"the environment '{shown}' cannot be copied ({why}); give a function that makes it"
        ) from error
    return EnvSource(name, kwargs, _CopiedEnv(env))


@dataclass(frozen=True, eq=False)
class _CopiedEnv:
    """Makes deep copies of an environment; its arguments are in it already."""

    env: gym.Env

    def __call__(self, **kwargs: Any) -> gym.Env:
        return copy.deepcopy(self.env)


@dataclass(frozen=True, eq=False)
class _RemadeEnv:
    """Makes an environment by its specification, which holds its arguments."""

    spec: Any

    def __call__(self, render_mode: str | None = None, **kwargs: Any) -> gym.Env:
        if render_mode is None:
            return gym.make(self.spec)
        return gym.make(self.spec, render_mode=render_mode)


def _what_a_file_says(spec: Any) -> tuple[str | None, dict[str, Any]]:
    """The id and arguments that make the same environment again; nothing where a wrapper or an
    argument stands between that a file cannot say."""
    if spec.additional_wrappers or spec.id not in gym.registry:
        return None, {}
    kwargs = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
    kwargs = {
        key: value
        for key, value in kwargs.items()
        if key not in gym.registry[spec.id].kwargs or gym.registry[spec.id].kwargs[key] != value
    }
    if spec.max_episode_steps != gym.registry[spec.id].max_episode_steps:
        kwargs["max_episode_steps"] = spec.max_episode_steps
    try:
        return spec.id, plain_json("env_kwargs", kwargs)
    except CrisptreeError:
        return None, {}


def _json(kwargs: dict[str, Any], env_id: str) -> dict[str, Any]:
    try:
        return plain_json("env_kwargs", kwargs)
    except CrisptreeError as error:
        raise CrisptreeError(
            f"{error}; what JSON cannot say goes into a function that makes '{printable(env_id)}'"
        ) from None


def _with_features(source: EnvSource, features: Any) -> EnvSource:
    if isinstance(features, str):
        module, colon, attribute = features.rpartition(":")
        if not colon or not attribute:
            raise CrisptreeError(f"features are named module:function, not '{printable(features)}'")
        imported = import_by_name(module, f"features '{printable(features)}'")
        found = getattr(imported, attribute, None)
        if not callable(found):
            raise CrisptreeError(
                f"the module '{printable(module)}' has no function '{printable(attribute)}' for "
                "the features"
            )
        return replace(source, features=found, feature_function=features)
    if not callable(features):
        raise CrisptreeError(
            f"features must be a function or module:function, not {type(features).__name__}"
        )
    return replace(source, features=features, feature_function=qualified_name(features))


def import_by_name(module: str, purpose: str) -> Any:
    """The module that the user's own argument names; the working directory is importable."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
        importlib.invalidate_caches()
    try:
        with guarded(module, "its import"):
            return importlib.import_module(module)
    except (ValueError, CrisptreeError) as error:
        cause = error.__cause__ or error
        raise CrisptreeError(f"cannot import the {purpose}: {reason(cause)}") from error


def _importable_name(function: Any) -> str | None:
    """`module:name` under which another program finds the function, or None."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not module or module == "__main__" or not name.isidentifier():
        return None
    found = getattr(sys.modules.get(module), name, None)
    return f"{module}:{name}" if found is function else None
