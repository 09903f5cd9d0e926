"""`crisptree train`: the whole way."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.options import OptionalPath, optional
from crisptree.pipeline.settings import Settings


@dataclass(frozen=True)
class Command:
    """Train a tree on an environment, make it crisp, score it on unseen seeds and draw it."""

    settings: Annotated[Settings, tyro.conf.arg(name="")]
    out: OptionalPath = None
    """Where the run goes (runs/ENV unless given); an existing one is not overwritten."""
    resume: bool = False
    """Go on with the run in --out, with the settings it was started with."""
    json: bool = False
    """Print the summary as one JSON object, and nothing else, on standard output."""
    track: Annotated[Literal["tensorboard", "wandb"] | None, optional("{tensorboard,wandb}")] = None
    """Log every update for TensorBoard (files in --out) or Weights & Biases."""

    def run(self) -> None:
        from crisptree.envs.spaces import describe
        from crisptree.pipeline.report import terminal

        if self.resume and self.out is None:
            raise CrisptreeError("--resume needs --out, the directory of the run to go on with")
        describe(self.settings.env)
        from crisptree.learn.cache import keep_compiled
        from crisptree.pipeline.track import followed, tracked
        from crisptree.pipeline.train import first_free, train

        keep_compiled()
        out = first_free(self.settings.env) if self.out is None else self.out
        try:
            with (
                terminal() as tell,
                tracked(self.track, out, self.settings.to_dict()) as hear,
                followed(tell, out, hear) as tell,
            ):
                trained = train(self.settings, out, resume=self.resume, tell=tell)
        except KeyboardInterrupt:
            print(
                f"\nstopped; crisptree train {self.settings.env} --resume --out {out} goes on",
                file=sys.stderr,
            )
            sys.exit(130)
        if self.json:
            print(json.dumps(trained.summary))
        else:
            print(told(trained.summary, out))


def _many_starts(run: dict) -> bool:
    return run.get("starts", 1) > 1


def told(summary: dict, out: Path) -> str:
    """The figures in words."""
    lines = []
    for run in summary.get("runs", [summary]):
        head = f"seed {run['seed']}: "
        if run.get("crisp_return") is not None:
            error = run.get("crisp_return_se")
            lines.append(
                f"{head}{run['leaves']} leaves, depth {run['depth']}: return "
                f"{run['crisp_return']:.1f}"
                + (f" ± {error:.1f}" if error is not None else "")
                + f" over {run['episodes']} unseen episodes"
                + (f" (of {run['starts']} starts: {run['route']})" if _many_starts(run) else "")
            )
        if run.get("soft_return") is not None:
            share = run.get("gap_share")
            lost = f"; gap to crisp {run['gap']:.1f}" if run.get("gap") is not None else ""
            lines.append(
                f"{' ' * len(head)}before crisp {run['soft_return']:.1f}{lost}"
                + (f" ({share:.0%} of the range from random)" if share is not None else "")
            )
    if "crisp_return" in summary and isinstance(summary["crisp_return"], dict):
        over = summary["crisp_return"]
        lines.append(
            f"mean over {len(over['every'])} seeds {over['mean']:.1f} (sd {over['sd']:.1f})"
        )
    lines.append(
        f"all of it in {out}" + (": policy.json, policy.svg" if "leaves" in summary else "")
    )
    return "\n".join(lines)
