"""`crisptree train`: from an environment to a scored and drawn tree, by one command."""

import inspect
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from crisptree.base.errors import CrisptreeError
from crisptree.base.interrupts import interrupts_raise
from crisptree.commands.help_page import help_of
from crisptree.commands.options import option, options_of, positional
from crisptree.commands.parser import parsed
from crisptree.commands.shared import playing


@dataclass(frozen=True)
class Command:
    """Train a tree on an environment, make it crisp, score it on unseen seeds and draw it.

    These are the options that matter. Every other number has a dotted name as well, for example
    the discount: --ppo.gamma 0.97. The option --help-all shows them all.
    """

    env: Annotated[str, positional("ENV")]
    """A Gymnasium id, `module:Id`, `module:callable`, `gymnax:ID` or `brax:ID`; modules of the
    working directory are found."""
    leaves: int | None = None
    """Most leaves of the crisp tree (16 unless given); with --paper, leaves of the soft tree."""
    rules: int | None = None
    """A rule list of at most this many rules instead of a tree."""
    mlp: int | None = None
    """Train the baseline MLP with this many hidden layers instead; nothing is made crisp."""
    budget: float | None = None
    """Minutes that a seed may take, everything included (10 unless given)."""
    quick: bool = False
    """A first tree within a minute."""
    steps: int | None = None
    """Environment steps of the main training, instead of a budget."""
    seed: int | None = None
    """Seed of all randomness (default: 0)."""
    seeds: int | None = None
    """Train this many seeds (seed, seed + 1, …) and report each."""
    episodes: int | None = None
    """Episodes the tree is scored on, on seeds that training never saw (100 unless given)."""
    teacher: str | None = None
    """Learn from a teacher first: mlp, soft, levels, dqn, sac, rule, exact, a policy file, a
    Stable-Baselines3 zip or `module:callable`. (By default several race.)"""
    direct: bool = False
    """No teacher: the tree learns from scratch."""
    start_from: str | None = None
    """Start from an expert's tree: a policy file, or rules in words."""
    paper: bool = False
    """The paper's way: an oblique soft tree, discretised at the end by argmax."""
    worst_case: bool = False
    """Choose the final tree by its worst starts instead of by the mean."""
    features: str | None = None
    """`module:function` from an observation to the named numbers that the tree sees."""
    derive: bool = False
    """Offer the tree derived features: weighted sums of a few, found in what a teacher decides."""
    env_kwargs: Annotated[str | None, option("JSON", name="env.kwargs")] = None
    """Keyword arguments for making the environment, such as '{"enable_wind": true}'."""
    config: Path | None = None
    """A configuration file; options on the command line count more."""
    out: Path | None = None
    """Where the run goes (runs/ENV unless given); an existing one is not overwritten."""
    resume: bool = False
    """Continue the run in --out with the configuration it was started with."""
    json: bool = False
    """Print the summary as one JSON object, and nothing else, on standard output."""
    track: Annotated[Literal["tensorboard", "wandb"] | None, option("{tensorboard,wandb}")] = None
    """Log every update for TensorBoard (files in --out) or Weights & Biases."""

    def run(self, dotted: list[str] | None = None) -> None:
        if self.resume and self.out is None:
            raise CrisptreeError("--resume needs --out, the directory of the run to go on with")
        from crisptree.envs.task import task_of
        from crisptree.pipeline.config import TrainConfig, first_free
        from crisptree.pipeline.config_io import check_named, load

        base = TrainConfig()
        if self.config is not None:
            base = load(self.config)
            check_named(base, (self.features, self.teacher), self.config)
        asked = self._asked(base)
        if dotted:
            asked = parsed(TrainConfig, dotted, "train", base=asked, is_dotted=True)
        env_kwargs = _json_object(self.env_kwargs or "{}") or asked.env.kwargs
        with interrupts_raise(), playing(self.env):
            task = task_of(self.env, env_kwargs, asked.env.features)
        out = first_free(self.env) if self.out is None else self.out
        self._train(asked, task, out)

    def _asked(self, base: Any) -> Any:
        from crisptree.pipeline.config_io import asked_config

        settings = inspect.signature(asked_config).parameters
        return asked_config(base, **{k: v for k, v in vars(self).items() if k in settings})

    def _train(self, asked: Any, task: Any, out: Path) -> None:
        from crisptree.learn.compilation_cache import enable_compilation_cache
        from crisptree.pipeline.progress import reporter
        from crisptree.pipeline.summary import in_words
        from crisptree.pipeline.tracking import followed, tracked
        from crisptree.pipeline.train import train

        enable_compilation_cache()
        try:
            with (
                interrupts_raise(),
                playing(self.env),
                reporter() as report,
                tracked(self.track, out, asked) as on_progress,
                followed(report, out, on_progress) as report,
            ):
                trained = train(asked, task, out, resume=self.resume, report=report)
        except KeyboardInterrupt:
            print(
                f"\nstopped; crisptree train {self.env} --resume --out {out} goes on",
                file=sys.stderr,
            )
            sys.exit(130)
        if self.json:
            print(json.dumps(trained.summary))
            return
        print("\n".join(in_words(trained.summary)))
        written = ": policy.json, policy.svg" if trained.tree is not None else ""
        print(f"all of it in {out}{written}")


def help_all() -> None:
    """Show every option there is."""
    from crisptree.pipeline.config import TrainConfig

    print(help_of(TrainConfig, "train ENV", is_dotted=True), end="")


def other_options() -> list[str]:
    """The names of the dotted options."""
    from crisptree.pipeline.config import TrainConfig

    return [each.name for each in options_of(TrainConfig, is_dotted=True)]


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The plain options, and those with a dot in their names, each with its values."""
    from crisptree.pipeline.config import TrainConfig

    plain: list[str] = []
    dotted: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        name, equals, _ = word.removeprefix("--").partition("=")
        if not word.startswith("--") or "." not in name or name == "env.kwargs":
            plain.append(word)
            continue
        dotted.append(word)
        left = 0 if equals else 10**6 if _holds_several(TrainConfig(), name) else 1
        while left and waiting and not waiting[0].startswith("--"):
            dotted.append(waiting.pop(0))
            left -= 1
    return plain, dotted


def _holds_several(config: Any, name: str) -> bool:
    """Whether a field takes more than one value."""
    for part in name.replace("-", "_").split("."):
        config = getattr(config, part, None)
    return isinstance(config, tuple)


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CrisptreeError(
            f"--env.kwargs must be JSON, such as '{{\"a\": 1}}': {error}"
        ) from error
    if not isinstance(found, dict):
        raise CrisptreeError(f"--env.kwargs must be a JSON object, not {text[:40]}")
    return found
