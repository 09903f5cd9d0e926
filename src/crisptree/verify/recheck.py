"""A certificate checked again: what it says in words against its numbers, then its proof."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify.checker import Verdict, check
from crisptree.verify.closed_loop import check_fit, claim_of, tried_out
from crisptree.verify.plants import Plant, plant_named
from crisptree.verify.plants.registry import PLANTS
from crisptree.verify.properties import InTheLoop


def recheck(
    content: Mapping[str, Any],
    tree: CrispTree,
    plant: Plant | None = None,
    seconds: float = math.inf,
) -> Verdict:
    """Whether a certificate proves its property about a policy, as far as that can be checked in so
    many seconds.

    The plant is the user's, or one of those that come with crisptree; a certificate never gets a
    module imported.
    """
    from crisptree.verify.language import parse  # trainings do without its grammar

    name = content.get("plant", {}).get("name") if isinstance(content.get("plant"), Mapping) else ""
    if plant is None:
        if ":" in str(name):
            raise CrisptreeError(
                "the certificate's plant is not one of crisptree's; --plant gives it"
            )
        plant = plant_named(str(name))
    if plant not in PLANTS:
        tried_out(plant)
    try:
        check_fit(tree, plant)
        asked = parse(str(content["property"]), tree, plant)
        claim = claim_of(asked, plant) if isinstance(asked, InTheLoop) else None
        if claim is None or claim.to_dict() != content["claim"]:
            return Verdict(False, "its words and its numbers differ")
    except (CrisptreeError, KeyError) as error:
        return Verdict(False, f"its property cannot be read: {error}")
    return replace(check(content, tree, plant, seconds), property=str(content["property"]))
