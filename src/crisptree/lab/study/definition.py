"""A study as it was set up: aids with their questions, and the questionnaire. Fixed once people
take part, so it lives in the database beside their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.aid import Aid, States
from crisptree.lab.study.aids import aid_from_dict
from crisptree.lab.study.items import Item, choose_items, decimals_for
from crisptree.lab.study.questionnaire import Questionnaire

MOST_AIDS = 6
MOST_ITEMS = 50


@dataclass(frozen=True)
class Block:
    """One aid and what is asked about it."""

    name: str
    aid: Aid
    practice: Item
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Definition:
    blocks: tuple[Block, ...]
    questionnaire: Questionnaire
    seed: int

    @property
    def n_items(self) -> int:
        return len(self.blocks[0].items)

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": 1,
            "seed": self.seed,
            "questionnaire": self.questionnaire.to_dict(),
            "blocks": [
                {
                    "name": block.name,
                    "kind": block.aid.kind,
                    "policy": block.aid.policy.to_dict(),
                    "practice": asdict(block.practice),
                    "items": [asdict(item) for item in block.items],
                }
                for block in self.blocks
            ],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Definition":
        if content.get("version") != 1:
            raise CrisptreeError(
                f"the study was set up by another crisptree (version {content.get('version')!r})"
            )
        return cls(
            blocks=tuple(
                Block(
                    block["name"],
                    aid_from_dict(block["policy"], block["kind"]),
                    _item(block["practice"]),
                    tuple(map(_item, block["items"])),
                )
                for block in content["blocks"]
            ),
            questionnaire=Questionnaire.from_dict(content["questionnaire"]),
            seed=content["seed"],
        )

    def asks_the_same(self, aids: Sequence[Aid], questionnaire: Questionnaire) -> bool:
        """Whether these aids and this questionnaire are those of the study."""
        mine = [(block.aid.kind, block.aid.policy.to_dict()) for block in self.blocks]
        theirs = [(aid.kind, aid.policy.to_dict()) for aid in aids]
        return mine == theirs and self.questionnaire == questionnaire


def define(
    aids: Sequence[tuple[Aid, States]], questionnaire: Questionnaire, n_items: int, seed: int
) -> Definition:
    """A study of `aids`, each with the states its policy visited."""
    if not 2 <= len(aids) <= MOST_AIDS:
        raise CrisptreeError(f"{len(aids)} aids were given; a study compares 2 … {MOST_AIDS}")
    if not 1 <= n_items <= MOST_ITEMS:
        raise CrisptreeError(f"{n_items} questions an aid; there must be 1 … {MOST_ITEMS}")
    blocks = []
    for at, name in enumerate(names([aid for aid, _ in aids])):
        aid, visited = aids[at]
        alike = [seen for other, seen in aids if _features(other) == _features(aid)]
        # The same digits for all aids: longer numbers would make an aid look harder.
        decimals = decimals_for(np.concatenate(alike))
        rng = np.random.default_rng([seed, at])
        try:
            practice, *items = choose_items(aid, visited, decimals, n_items, rng)
        except CrisptreeError as error:
            raise CrisptreeError(f"aid {name}: {error}") from None
        blocks.append(Block(name, aid, practice, tuple(items)))
    return Definition(tuple(blocks), questionnaire, seed)


def _features(aid: Aid) -> tuple[str, ...]:
    return aid.policy.feature_names


def names(aids: Sequence[Aid]) -> list[str]:
    """A name an aid: its kind, with a number where a kind comes more than once."""
    kinds = [aid.kind for aid in aids]
    return [
        kind if kinds.count(kind) == 1 else f"{kind}{kinds[: at + 1].count(kind)}"
        for at, kind in enumerate(kinds)
    ]


def _item(content: Mapping[str, Any]) -> Item:
    return Item(tuple(content["state"]), content["answer"], content["place"])
