"""What the numbers and actions of an environment are called, for trees that people read.

An environment names its own in its `metadata`: `feature_names`, `action_names`, and where they
help `categories` (a name of a Discrete → the meanings of its values), `ordered` (Discretes whose
order means something, so that they stay numbers), `flags` (numbers that are 0 or 1) and
`action_choices` (the choices of each part of a MultiDiscrete action). Gymnasium's own environments
are in the tables of `known_names`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.envs.known_names import ACTIONS, FEATURES, FLAGS, ORDERED


@dataclass(frozen=True)
class Names:
    """The names that are known of one environment; each field may be empty."""

    env_name: str
    known: tuple[str, ...] = ()
    """Names from the tables: used where their number fits."""
    given: tuple[str, ...] | None = None
    """Names from the environment's metadata: their number must fit."""
    flags: frozenset[str] = frozenset()
    ordered: frozenset[str] = frozenset()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known_actions: tuple[str, ...] = ()
    given_actions: tuple[str, ...] | None = None
    choices: tuple[tuple[str, ...], ...] | None = None

    def of_values(self, n: int) -> tuple[str, ...] | None:
        """The names of the `n` numbers of a raw observation."""
        if self.given is not None and len(self.given) == n:
            return self._distinct(self.given, n, "feature_names")
        return self.known if self.given is None and len(self.known) == n else None

    def of_features(self, built: tuple[str, ...], *, from_values: bool) -> tuple[str, ...]:
        """The names of the features: those built from the names of the raw numbers, or, where the
        metadata name the features themselves, those."""
        if self.given is not None and not from_values:
            return self._distinct(self.given, len(built), "feature_names")
        twice = next((name for at, name in enumerate(built) if name in built[:at]), None)
        if twice is not None:
            raise CrisptreeError(
                f"'{self.env_name}' has two features named '{printable(twice)}'; feature_names in "
                "its metadata can tell them apart"
            )
        return built

    def categories_of(self, name: str, n: int) -> tuple[str, ...]:
        """The meanings of a Discrete's `n` values, or nothing."""
        found = self.categories.get(name, ())
        if found and len(found) != n:
            raise CrisptreeError(
                f"the metadata of '{self.env_name}' give {len(found)} categories of '{name}'; it "
                f"has {n}"
            )
        return found

    def of_actions(self, n: int, default: tuple[str, ...]) -> tuple[str, ...]:
        """The names of `n` actions, parts or dimensions."""
        if self.given_actions is not None:
            return self._distinct(self.given_actions, n, "action_names")
        return self.known_actions if len(self.known_actions) == n else default

    def _distinct(self, names: tuple[str, ...], n: int, what: str) -> tuple[str, ...]:
        if len(names) != n or len(set(names)) != n:
            raise CrisptreeError(
                f"the metadata of '{self.env_name}' give {len(names)} {what}; it needs {n}, no two "
                "alike"
            )
        return names


def names_of(env: gym.Env, env_id: str | None, env_name: str) -> Names:
    """The names that an environment's metadata and the tables give; metadata count first."""
    about = env.metadata or {}
    bare = _bare(env_id or (env.spec.id if env.spec else None))
    return Names(
        env_name,
        known=FEATURES.get(bare, ()),
        given=_texts(about, "feature_names"),
        flags=frozenset((*FLAGS.get(bare, ()), *map(str, about.get("flags", ())))),
        ordered=frozenset((*ORDERED.get(bare, ()), *map(str, about.get("ordered", ())))),
        categories={
            str(name): tuple(map(str, meanings))
            for name, meanings in dict(about.get("categories", {})).items()
        },
        known_actions=ACTIONS.get(bare, ()),
        given_actions=_texts(about, "action_names"),
        choices=_choices(about),
    )


def _texts(about: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    found = about.get(key)
    return None if found is None else tuple(map(str, found))


def _choices(about: Mapping[str, Any]) -> tuple[tuple[str, ...], ...] | None:
    found = about.get("action_choices")
    return None if found is None else tuple(tuple(map(str, part)) for part in found)


def _bare(env_id: str | None) -> str:
    """The id without its module, namespace and version."""
    return re.sub(r"^.*[:/]|-v\d+$", "", env_id or "")
