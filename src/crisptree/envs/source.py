"""How an environment is made, here or in another process of the same program. No JAX here."""

import importlib
import inspect
import pickle
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
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
            raise CrisptreeError(f"no environment '{shown}': {_line(cause)}") from cause
        raise


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
    """A registration that another process can use: what is in the main script as an object."""
    if spec is None or not isinstance(spec.entry_point, str):
        return spec
    module, _, attribute = spec.entry_point.partition(":")
    if module != "__main__":
        return spec
    return replace(spec, entry_point=getattr(sys.modules["__main__"], attribute))
