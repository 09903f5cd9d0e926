"""Everything that the page says, from the policy and what was asked for."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.version import crisptree_version
from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of_policy
from crisptree.export import TARGETS
from crisptree.report import exports, origin, play, proofs
from crisptree.report.review import Played, Review

MOST_EPISODES = 100_000


@dataclass(frozen=True)
class Request:
    """What the page is to hold."""

    env: Any = None
    """The environment, if it is not the one that the file names."""
    features: Any = None
    episodes: int = 100
    seed: int = 0
    properties: Sequence[str] = ()
    certificates: Sequence[Path] = ()
    plant: str | None = None
    """What a closed loop is about, where it is not known from the environment."""
    seconds: float = 60.0
    """Seconds for each property."""
    exports: Sequence[str] = tuple(TARGETS)
    files: Sequence[Path] = ()
    """More files whose hashes the page lists."""
    command: str = ""


def requested(**request: Any) -> Request:
    """A request from keywords; a wrong one is named."""
    known = [each.name for each in fields(Request)]
    wrong = [name for name in request if name not in known]
    if wrong:
        raise CrisptreeError(f"report takes no '{wrong[0]}': it takes {', '.join(known)}")
    return Request(**request)


def gathered(tree: CrispTree, request: Request, policy: Path | None = None) -> Review:
    """The review of a tree; `policy` is the file that it came from, if any."""
    _check(request)
    about = origin.Origin(tree.training, policy)
    # First the checks that can refuse what the user asked for.
    files = origin.hashed(_files(request, policy, about))
    findings = proofs.certified(tree, request.certificates, request.plant)
    findings += proofs.asked(tree, request.properties, request.seconds, request.plant)
    checks = exports.checked(tree, request.exports)
    episodes, why = _played(tree, request)
    return Review(
        tree=tree,
        name="the policy" if policy is None else policy.name,
        training=about.rows(),
        stages=about.stages(),
        baselines=about.baselines(),
        played=episodes,
        not_played=why,
        findings=findings,
        exports=checks,
        files=files,
        version=crisptree_version(),
        date=_today(),
        command=request.command,
    )


def _check(request: Request) -> None:
    if type(request.episodes) is not int or not 0 <= request.episodes <= MOST_EPISODES:
        raise CrisptreeError(f"episodes is {request.episodes!r}; it must lie in 0 … 100,000")
    for name in ("properties", "certificates", "exports", "files"):
        if isinstance(getattr(request, name), str):
            raise CrisptreeError(f"{name} are a list, not one text: {name}=[…]")


def _played(tree: CrispTree, request: Request) -> tuple[Played | None, str]:
    """The episodes, or a note why there are none.

    An environment that cannot be played is an error only if the user named it.
    """
    if request.episodes == 0:
        return None, "No episodes were asked for."
    try:
        task = task_of_policy(tree, request.env, request.features)
        return play.played(tree, task, request.episodes, request.seed), ""
    except CrisptreeError as error:
        if request.env is not None:
            raise
        return None, f"No episodes were played: {error}."


def _files(request: Request, policy: Path | None, about: origin.Origin) -> list[Path]:
    own = [] if policy is None else [policy]
    if policy is not None and about.is_run:
        own += origin.beside(policy)
    return [*own, *request.certificates, *request.files]


def _today() -> str:
    """The day, or the one that a reproducible build names."""
    now = os.environ.get("SOURCE_DATE_EPOCH")
    seconds = float(now) if now and now.isdigit() else time.time()
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
