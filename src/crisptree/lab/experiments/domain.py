"""What an experiment needs to know of an environment: its configuration, and the paper's figures.

The paper's four domains, and some with real actions, are the files in `domains/`. Their
`config` is an ordinary configuration: `crisptree train ENV --config FILE` reads the same file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import from_dict

PaperDomain = Literal["cartpole", "lunarlander", "wildfire", "zerglings"]
BoxDomain = Literal["pendulum", "mountaincar-continuous", "lunarlander-continuous"]
DomainName = PaperDomain | BoxDomain
DOMAINS: tuple[PaperDomain, ...] = get_args(PaperDomain)
BOX_DOMAINS: tuple[BoxDomain, ...] = get_args(BoxDomain)
"""Real actions: the paper's comparisons there, and one linear rule beside them."""
FOLDER = Path(__file__).parent / "domains"
STEPS = 3_000_000
"""Environment steps of a training unless given."""
QUICK = {"steps": 500_000, "selection.scale": 0.25}


class Reported(NamedTuple):
    """A figure of the paper's Table 1."""

    mean: float
    spread: float
    """The ± of the table; the paper does not say of what."""
    size: int | None = None
    """Leaves, rules or hidden layers of the paper's best model (Appendix E)."""


class Script(NamedTuple):
    """A policy that a person would write first."""

    title: str
    policy: str
    """A function in `scripts`."""


@dataclass(frozen=True)
class Domain:
    """An environment, how its policies are trained, and what the paper reports of it."""

    name: str
    """What the command line and the files call it."""
    title: str
    config: TrainConfig
    """What all trainings have in common."""
    models: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """What is different for "soft" trees and lists, for the "mlp" and for "crisp" policies."""
    quick: Mapping[str, Any] = field(default_factory=lambda: QUICK)
    """What is different in a quick look."""
    note: str = ""
    """What a reader must know before comparing with the paper."""
    script: Script | None = None
    paper: Mapping[str, Reported] = field(default_factory=dict)
    """The paper's figures by model; none where it has no such domain."""

    @property
    def env(self) -> str:
        return self.config.env.id


def load_domain(name: str) -> Domain:
    """The domain in a file of `domains/`."""
    path = FOLDER / f"{name}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    script = content.get("script")
    return Domain(
        name,
        content["title"],
        from_dict(TrainConfig, content["config"], f"{path}: config"),
        content["models"],
        content["quick"],
        content.get("note", ""),
        None if script is None else Script(**script),
        {row: Reported(**figures) for row, figures in content["paper"].items()},
    )


def domain_of_env(env: str, config: TrainConfig | None = None) -> Domain:
    """An environment of one's own, trained as `config` says, or by the general procedure."""
    base = TrainConfig() if config is None else config
    if base.budget is not None:
        raise CrisptreeError("experiments count steps, not minutes: give steps instead of a budget")
    base = replace(base, env=replace(base.env, id=env), steps=base.steps or STEPS)
    return Domain(slug(env), env, base)


def slug(env: str) -> str:
    """An id as part of a file name."""
    return "".join(c if c.isalnum() or c in "-._" else "-" for c in env).strip("-.").lower()
