"""The plants that come with crisptree, and those of a user's own."""

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.envs.source import import_by_name
from crisptree.verify.plants.arch_comp import CRUISE_CONTROL, SINGLE_PENDULUM
from crisptree.verify.plants.classic import ACROBOT, CART_POLE, MOUNTAIN_CAR, PENDULUM
from crisptree.verify.plants.plant import Plant, guarded_plant

PLANTS: tuple[Plant, ...] = (
    CART_POLE,
    MOUNTAIN_CAR,
    PENDULUM,
    ACROBOT,
    SINGLE_PENDULUM,
    CRUISE_CONTROL,
)
SAME = {"CartPole-v0": "CartPole-v1"}
"""Environments with the equations of another."""


def plant_of(env_id: str | None) -> Plant | None:
    """The plant that describes an environment, if one comes with crisptree."""
    known = {plant.env_id: plant for plant in PLANTS if plant.env_id is not None}
    return known.get(SAME.get(env_id or "", env_id or ""))


def plant_named(name: str) -> Plant:
    """A plant by its own name, its environment's id, or as `module:NAME` of a user's own.

    A module is imported from the working directory too.
    """
    for plant in PLANTS:
        if name in (plant.name, plant.env_id):
            return plant
    if ":" not in name:
        names = ", ".join(plant.name for plant in PLANTS)
        raise CrisptreeError(
            f"there is no plant {printable(name)!r:.80}; there are {names}, and module:NAME"
        )
    module, _, attribute = name.rpartition(":")
    found = getattr(import_by_name(module, f"plant '{printable(name)}'"), attribute, None)
    if not isinstance(found, Plant):
        raise CrisptreeError(f"{printable(name)} is no Plant")
    return found if found in PLANTS else guarded_plant(found)
