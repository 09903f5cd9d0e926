"""`crisptree report`: one page about a policy that a reviewer can sign."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import option, positional, repeated

if TYPE_CHECKING:
    from crisptree.report import Request


@dataclass(frozen=True)
class Command:
    """Write one page about a policy that a reviewer can sign, as HTML or PDF.

    What was trained and how; scores with quantiles and the worst episode; the tree with the share
    of the states along each line; rules; properties, proved or refuted; exports with their
    equality checks; the hashes of all files.
    """

    policy: Annotated[str, positional("POLICY")]
    """The policy file, or the directory of a run."""
    out: Annotated[tuple[str, ...], repeated("FILE")] = ()
    """FILE.html or FILE.pdf; may be given twice; NAME.report.html next to the policy if not said.
    The PDF needs Chromium or Chrome."""
    env: str | None = None
    """The environment, if it is not the one that the file names."""
    features: str | None = None
    """`module:function` that computes the policy's features, if it uses one."""
    episodes: int = 100
    """How many unseen episodes to play; 0 for none."""
    seed: int = 0
    """Which reporting episodes to play: another seed plays other episodes."""
    property: Annotated[tuple[str, ...], repeated("PROPERTY")] = ()
    """A property, as `crisptree verify` has it; may be given several times."""
    properties: Annotated[Path | None, option("FILE")] = None
    """A file of properties, one per line; lines that start with # are comments."""
    certificate: Annotated[tuple[Path, ...], repeated("FILE")] = ()
    """A certificate of `crisptree verify`, to be checked again; may be given several times."""
    plant: Annotated[str | None, option("PLANT")] = None
    """What a closed loop is about: CartPole, MountainCar, …, or module:NAME of your own."""
    seconds: float = 60.0
    """How long to try each property before it counts as undecided."""
    exports: Annotated[str, option("NAMES")] = "all"
    """Which exports to compare with the tree: all, none, or names with commas between: c,st."""
    file: Annotated[tuple[Path, ...], repeated("FILE")] = ()
    """Another file whose hash the page is to list; may be given several times."""

    def run(self) -> None:
        from crisptree.commands.shared import loaded, playing, write_and_say
        from crisptree.crisp.policy_file import policy_path
        from crisptree.report import as_page, check_suffix, gathered, in_file

        if not 0 < self.seconds < 1e6:
            raise CrisptreeError(f"--seconds is {self.seconds}; it must be above 0")
        tree, policy = loaded(self.policy), Path(policy_path(self.policy))
        outs = [Path(out) for out in self.out] or [policy.with_suffix(".report.html")]
        for out in outs:
            check_suffix(out)
        request = self._request()
        with playing(self.env or tree.env_id):
            review = gathered(tree, request, policy)
        page = as_page(review)
        for out in outs:
            write_and_say(out, in_file(page, out))

    def _request(self) -> "Request":
        from crisptree.commands.shared import lines_of
        from crisptree.export import TARGETS
        from crisptree.report import Request

        asked = [*self.property, *(lines_of(self.properties) if self.properties else ())]
        names = {"all": tuple(TARGETS), "none": ()}.get(self.exports)
        if names is None:
            names = tuple(name.strip() for name in self.exports.split(","))
        return Request(
            env=self.env,
            features=self.features,
            episodes=self.episodes,
            seed=self.seed,
            properties=asked,
            certificates=self.certificate,
            plant=self.plant,
            seconds=self.seconds,
            exports=names,
            files=[*([self.properties] if self.properties else []), *self.file],
            command=f"crisptree {shlex.join(sys.argv[1:])}" if sys.argv[1:] else "",
        )
