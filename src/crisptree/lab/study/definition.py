"""A study as it was set up: policies with their questions, and the questionnaire. It is fixed once
people take part, so it is stored in the database with their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, PositiveFloat

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.action_fields import ActionField, action_fields, is_action, tolerances_for
from crisptree.lab.study.drawing import Drawing, Kind, drawing_from_dict
from crisptree.lab.study.items import Item, choose_items, decimals_for
from crisptree.lab.study.linear_mlp import States
from crisptree.lab.study.questionnaire import Questionnaire
from crisptree.lab.study.validation import validated

VERSION = 2
MOST_POLICIES = 6
MOST_ITEMS = 50


@dataclass(frozen=True)
class Block:
    """One policy and what is asked about it."""

    name: str
    drawing: Drawing
    tolerances: tuple[float, ...]
    """How far a number may be off, for each dimension of a continuous action; else empty."""
    practice: Item
    items: tuple[Item, ...]

    @cached_property
    def fields(self) -> tuple[ActionField, ...]:
        """What participants fill in for an action."""
        return action_fields(self.drawing.policy.actions, self.tolerances)


class StoredBlock(BaseModel, extra="forbid"):
    """A block as the database holds it."""

    name: str
    kind: Kind
    policy: dict[str, Any]
    tolerances: tuple[PositiveFloat, ...]
    practice: Item
    items: Annotated[tuple[Item, ...], Field(min_length=1)]

    def block(self) -> Block:
        """The block itself; questions must fit its policy."""
        drawing = drawing_from_dict(self.policy, self.kind)
        actions = drawing.policy.actions
        if len(self.tolerances) != (len(actions.names) if actions.kind == "box" else 0):
            raise CrisptreeError(f"the tolerances of {self.name} do not fit its policy")
        block = Block(self.name, drawing, self.tolerances, self.practice, self.items)
        for item in (self.practice, *self.items):
            fits = len(item.state) == drawing.policy.n_features
            if not fits or not is_action(block.fields, item.answer):
                raise CrisptreeError(f"a question about {self.name} does not fit its policy")
        return block


class StoredDefinition(BaseModel, extra="forbid"):
    """A definition as the database holds it."""

    version: int
    seed: int
    questionnaire: Questionnaire
    blocks: Annotated[list[StoredBlock], Field(min_length=2)]


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
            "version": VERSION,
            "seed": self.seed,
            "questionnaire": self.questionnaire.to_dict(),
            "blocks": [
                {
                    "name": block.name,
                    "kind": block.drawing.kind,
                    "policy": block.drawing.policy.to_dict(),
                    "tolerances": list(block.tolerances),
                    "practice": asdict(block.practice),
                    "items": [asdict(item) for item in block.items],
                }
                for block in self.blocks
            ],
        }

    @classmethod
    def from_dict(cls, content: object) -> "Definition":
        """The definition that `to_dict` wrote; anything else is refused."""
        if not isinstance(content, Mapping) or content.get("version") != VERSION:
            raise CrisptreeError("the study was set up by another version of crisptree")
        try:
            stored = validated(StoredDefinition, content)
            blocks = tuple(block.block() for block in stored.blocks)
        except CrisptreeError as error:
            raise CrisptreeError(f"the study's definition is damaged: {error}") from None
        return cls(blocks, stored.questionnaire, stored.seed)

    def asks_the_same(self, drawings: Sequence[Drawing], questionnaire: Questionnaire) -> bool:
        """Whether these drawings and this questionnaire are those of the study."""
        mine = [(block.drawing.kind, block.drawing.policy.to_dict()) for block in self.blocks]
        theirs = [(drawing.kind, drawing.policy.to_dict()) for drawing in drawings]
        return mine == theirs and self.questionnaire == questionnaire


def define(
    drawings: Sequence[tuple[Drawing, States]],
    questionnaire: Questionnaire,
    n_items: int,
    seed: int,
) -> Definition:
    """A study of these drawings, each with the states its policy visited."""
    if not 2 <= len(drawings) <= MOST_POLICIES:
        raise CrisptreeError(
            f"{len(drawings)} policies were given; a study compares 2 … {MOST_POLICIES}"
        )
    if not 1 <= n_items <= MOST_ITEMS:
        raise CrisptreeError(f"{n_items} questions a policy; there must be 1 … {MOST_ITEMS}")
    if seed < 0:
        raise CrisptreeError(f"seed is {seed}; it must not be negative")
    blocks = []
    for at, name in enumerate(names([drawing for drawing, _ in drawings])):
        drawing, visited = drawings[at]
        # The same digits and tolerances for policies over the same numbers: longer numbers would
        # make a policy look harder.
        same_state = [
            seen
            for other, seen in drawings
            if other.policy.feature_names == drawing.policy.feature_names
        ]
        same_action = [
            other for other, _ in drawings if other.policy.actions == drawing.policy.actions
        ]
        decimals, tolerances = decimals_for(np.concatenate(same_state)), tolerances_for(same_action)
        rng = np.random.default_rng([seed, at])
        try:
            practice, *items = choose_items(drawing, visited, decimals, tolerances, n_items, rng)
        except CrisptreeError as error:
            raise CrisptreeError(f"policy {name}: {error}") from None
        blocks.append(Block(name, drawing, tolerances, practice, tuple(items)))
    return Definition(tuple(blocks), questionnaire, seed)


def names(drawings: Sequence[Drawing]) -> list[str]:
    """A name for each drawing: its kind, with a number where a kind comes more than once."""
    kinds = [drawing.kind for drawing in drawings]
    return [
        kind if kinds.count(kind) == 1 else f"{kind}{kinds[: at + 1].count(kind)}"
        for at, kind in enumerate(kinds)
    ]
