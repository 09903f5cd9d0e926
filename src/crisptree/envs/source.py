"""Where an environment comes from (an id, a module's callable, a factory, an object), and how it is
made, here or in another process of the same program. No JAX here.

Only what a user names is imported: a name that merely stands in a file must not come here
(`task.task_of_policy` sees to that).
"""

import copy
import importlib
import inspect
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gymnasium as gym
from gymnasium.envs import registration

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp.metadata import plain_json
from crisptree.envs.feature_function import FeatureFunction
from crisptree.envs.guard import guarded, misbehaved, reason

SUITES = ("gymnax", "brax")
"""Suites of JAX environments that have an adapter of their own: `gymnax:CartPole-v1`."""

Env = str | gym.Env | Callable[..., gym.Env]
"""Whatever names or makes an environment."""


@dataclass(frozen=True)
class EnvSource:
    """How to make an environment, and the user's features between its observations and a tree."""

    env_id: str | None
    """What a policy file says: an id, `module:Id`, `module:callable`, `gymnax:Id`; None where
    only this program knows the environment."""
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    factory: Callable[..., gym.Env] | None = None
    """Makes the environment, where gymnasium's registry does not."""
    features: FeatureFunction | None = None
    feature_function: str | None = None
    """What a policy file says of `features`: `module:name`."""

    @property
    def name(self) -> str:
        """The environment's name in messages."""
        return printable(self.env_id or qualified_name(self.factory))

    @property
    def is_registered(self) -> bool:
        """Whether gymnasium's registry makes it."""
        return self.factory is None

    def make(self, **options: Any) -> gym.Env:
        """A new environment. `options` (such as `render_mode`) go to gymnasium, or to a factory
        that takes them."""
        if self.factory is None:
            assert self.env_id is not None
            return _make_registered(self.env_id, {**self.kwargs, **options})
        taken = _accepted(self.factory, options)
        with guarded(self.name, "its factory"):
            env = self.factory(**self.kwargs, **taken)
        if not isinstance(env, gym.Env):
            raise misbehaved(
                self.name, f"is a {type(env).__name__}; a gymnasium.Env would be right"
            )
        return env

    def to_bytes(self) -> bytes:
        """The source for another process of this program, over a pipe; never for a file.

        An id that was registered in this program travels with its registration, and what was
        defined in the main script travels whole.
        """
        import cloudpickle

        spec = None
        if self.factory is None and self.env_id is not None:
            spec = _portable_spec(gym.registry.get(self.env_id))
        try:
            return pickle.dumps((list(sys.path), cloudpickle.dumps((self, spec))))
        except Exception as error:
            raise CrisptreeError(
                f"the environment '{self.name}' cannot be sent to another process "
                f"({reason(error)}); give it by id or module:callable"
            ) from error

    @staticmethod
    def from_bytes(content: bytes) -> "EnvSource":
        """The source that `to_bytes` packed; only bytes from a parent process may come here."""
        path, packed = pickle.loads(content)
        sys.path += [entry for entry in path if entry not in sys.path]
        try:
            source, spec = pickle.loads(packed)
        except Exception as error:
            raise CrisptreeError(
                f"an environment cannot be made in another process: {reason(error)}"
            ) from error
        if spec is not None and spec.id not in gym.registry:
            gym.registry[spec.id] = spec
        return source


def _make_registered(env_id: str, kwargs: Mapping[str, Any]) -> gym.Env:
    if env_id.startswith("crisptree/"):
        importlib.import_module("crisptree.envs.gym_registration")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with guarded(env_id, "its making"):
                return gym.make(env_id, disable_env_checker=True, **kwargs)
    except CrisptreeError as error:
        cause = error.__cause__
        shown = printable(env_id)
        if isinstance(cause, gym.error.DependencyNotInstalled | ImportError):
            raise CrisptreeError(
                f"environment '{shown}' needs a package: {_line(cause)}"
            ) from cause
        if isinstance(cause, gym.error.Error):
            raise CrisptreeError(
                f"no environment '{shown}': {_line(cause)}{_hint(env_id, cause)}"
            ) from cause
        raise


def _hint(env_id: str, error: BaseException) -> str:
    """How to name an environment that a package registers when it is imported."""
    is_unknown = isinstance(error, gym.error.NameNotFound | gym.error.NamespaceNotFound)
    if ":" in env_id or not is_unknown or "Did you mean" in str(error):
        return ""
    return f" (if a package registers it, name the package too: package:{printable(env_id)})"


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return printable(lines[0]) if lines else type(error).__name__


def _accepted(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a function takes."""
    if not options:
        return {}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return dict(options)
    return {key: value for key, value in options.items() if key in parameters}


def qualified_name(function: Any) -> str:
    """`module:name` of a function or class, whether or not it can be imported so."""
    module = getattr(function, "__module__", "")
    return f"{module}:{getattr(function, '__qualname__', type(function).__name__)}"


def _portable_spec(spec: Any) -> Any:
    """The registration for another process; an entry point in the main script as an object."""
    if spec is None or not isinstance(spec.entry_point, str):
        return spec
    module, _, attribute = spec.entry_point.partition(":")
    if module != "__main__":
        return spec
    return replace(spec, entry_point=getattr(sys.modules["__main__"], attribute))


def source_of(
    env: Any, env_kwargs: Mapping[str, Any] | None = None, features: Any = None
) -> EnvSource:
    """The source of whatever the user names or gives: an `Env`, and a feature function or its
    name; anything else is refused."""
    if not isinstance(env_kwargs, Mapping | None):
        raise CrisptreeError(
            f"env_kwargs are a dict of what the environment is made with, not "
            f"{type(env_kwargs).__name__}"
        )
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
    """The source of a function or class. It has an id if other programs can import the factory and
    if its arguments are plain JSON."""
    name = _importable_name(factory)
    try:
        return EnvSource(name, plain_json("env_kwargs", kwargs) if name else kwargs, factory)
    except CrisptreeError:
        return EnvSource(None, kwargs, factory)


def _source_of_name(name: str, kwargs: dict[str, Any]) -> EnvSource:
    module, colon, attribute = name.rpartition(":")
    if not colon:
        return EnvSource(_with_version(name), kwargs)
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


def _with_version(env_id: str) -> str:
    """The id, with the newest version added if it names none, so that policy files record it."""
    try:
        namespace, name, version = registration.parse_env_id(env_id)
        newest = registration.find_highest_version(namespace, name)
    except gym.error.Error:
        return env_id  # gym.make says what is wrong
    if version is not None or newest is None or env_id in gym.registry:
        return env_id
    return registration.get_env_id(namespace, name, newest)


def _make_of_suite(suite: str, env_id: str, **kwargs: Any) -> gym.Env:
    from crisptree.envs.jax_suites import make_of_suite

    return make_of_suite(suite, env_id, **kwargs)


def _source_of_object(env: gym.Env) -> EnvSource:
    """A source that makes deep copies of an environment, with whatever was changed in it. What
    cannot be copied (often physics engines in C) is made again from its specification."""
    spec = env.spec
    name, kwargs = (None, {}) if spec is None else _id_and_kwargs(spec)
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


def _id_and_kwargs(spec: Any) -> tuple[str | None, dict[str, Any]]:
    """The id and arguments that make the same environment again; `(None, {})` if it has wrappers or
    arguments that a policy file cannot hold."""
    if spec.additional_wrappers or spec.id not in gym.registry:
        return None, {}
    known = gym.registry[spec.id]
    kwargs = {
        key: value
        for key, value in spec.kwargs.items()
        if key != "render_mode" and (key not in known.kwargs or known.kwargs[key] != value)
    }
    if spec.max_episode_steps != known.max_episode_steps:
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
