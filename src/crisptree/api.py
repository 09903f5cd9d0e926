"""`crisptree.train` for Python: what the command line does, with keyword arguments."""

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never, TypedDict, Unpack

from crisptree.base.errors import CrisptreeError
from crisptree.envs.source import Env
from crisptree.envs.task import Task, task_of
from crisptree.pipeline.config import TrainConfig, first_free
from crisptree.pipeline.config_io import asked_config, check_named, fields_named, load
from crisptree.pipeline.progress import Silent, reporter
from crisptree.pipeline.tracking import OnProgress, Tracker, followed, tracked
from crisptree.pipeline.train import Trained
from crisptree.pipeline.train import train as train_config

if TYPE_CHECKING:
    NoMore = Never  # an editor marks further arguments, and a call says what would be right
else:
    NoMore = Any


class NothingElse(TypedDict):
    """No further keywords: an editor marks them, and a call says what would be right."""


def train(
    env: Env | Task,
    *more: NoMore,
    leaves: int | None = None,
    rules: int | None = None,
    mlp: int | None = None,
    leaf: Literal["constant", "linear"] | None = None,
    gains: int | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    budget: float | None = None,
    steps: int | None = None,
    quick: bool = False,
    episodes: int | None = None,
    teacher: str | None = None,
    direct: bool = False,
    start_from: str | PathLike[str] | None = None,
    paper: bool = False,
    worst_case: bool = False,
    env_kwargs: dict[str, Any] | None = None,
    features: Any = None,
    derive: bool = False,
    config: TrainConfig | str | PathLike[str] | None = None,
    overrides: dict[str, Any] | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    on_progress: OnProgress | None = None,
    track: Tracker | None = None,
    **unknown: Unpack[NothingElse],
) -> Trained:
    """Train a tree on `env`, make it crisp, score it on unseen seeds and draw it.

    `env` is a Gymnasium id, `module:Id`, an environment or a function that makes one. The keywords
    are the settings that matter; all others are fields of `config` (a `TrainConfig`, or the path
    of its file) and can be set by their dotted names: `overrides={"ppo.gamma": 0.97}`.

    Args:
        env: The environment.
        leaves: Most leaves of the tree (16 by default).
        rules: A rule list of at most this many rules instead of a tree.
        mlp: The baseline MLP with this many hidden layers instead; nothing is made crisp.
        leaf: For real actions: a leaf holds one action, or a linear controller.
        gains: Most features of a linear leaf, for each dimension of the action.
        seed: Seed of all randomness.
        seeds: Train this many seeds and report each.
        budget: Minutes that a seed may take, everything included (10 by default).
        steps: Environment steps of the main training, instead of a budget.
        quick: A first tree within a minute.
        episodes: Unseen episodes that the tree is scored on (100 by default).
        teacher: `mlp`, `soft`, `levels`, `dqn`, `sac`, `rule`, `exact`, a policy file, a
            Stable-Baselines3 zip or `module:name`; by default what suits the environment races.
        direct: No teacher: the tree learns from scratch.
        start_from: An expert's tree: a policy file, or rules in words.
        paper: The paper's method: a soft tree, discretised at the end by argmax.
        worst_case: Choose the final tree by its worst starts instead of by the mean.
        env_kwargs: What the environment is made with.
        features: A function from an observation to named numbers, or its `module:name`.
        derive: Offer the tree weighted sums of a few features as well.
        config: All other settings.
        overrides: Single settings by their dotted names.
        out: The directory of the run (`runs/ENV` by default).
        resume: Continue the run in `out`.
        progress: Show progress bars.
        on_progress: Called with a dict after every update: `stage`, `step`, `return` (None if no
            episode ended), `steps_per_second`, the losses, `run` and `total_step`. If it raises,
            the training stops, and `resume=True` continues it.
        track: Log the same for TensorBoard or Weights & Biases.
    """
    check_keywords(train, more, unknown)
    check_callback(on_progress)
    if overrides is not None and not isinstance(overrides, dict):
        raise CrisptreeError(
            'overrides are a dict of dotted names and values, such as {"ppo.gamma": 0.97}, not '
            f"{type(overrides).__name__}"
        )
    if out is not None and not isinstance(out, (str, PathLike)):
        raise CrisptreeError(f"out is the path of a directory, not {type(out).__name__}")
    task = task_of(env) if isinstance(env, Task) else task_of(env, env_kwargs, features)
    base = config if isinstance(config, TrainConfig) else TrainConfig()
    if config is not None and not isinstance(config, TrainConfig):
        base = _config_file(config)
        check_named(base, (task.source.feature_function, teacher), Path(config))
    asked = asked_config(
        base,
        leaves=leaves,
        rules=rules,
        mlp=mlp,
        leaf=leaf,
        gains=gains,
        seed=seed,
        seeds=seeds,
        budget=budget,
        steps=steps,
        quick=quick,
        worst_case=worst_case,
        episodes=episodes,
        teacher=teacher,
        direct=direct,
        start_from=None if start_from is None else str(start_from),
        paper=paper,
        features=features if isinstance(features, str) else None,
        derive=derive,
        overrides=overrides or {},
    )
    path = first_free(task.env_id or task.name) if out is None else Path(out)
    with ExitStack() as stack:
        report = stack.enter_context(reporter()) if progress else Silent()
        for hear in (on_progress, stack.enter_context(tracked(track, path, asked))):
            report = stack.enter_context(followed(report, path, hear))
        return train_config(asked, task, path, resume=resume, report=report)


def _config_file(path: Any) -> TrainConfig:
    if not isinstance(path, (str, PathLike)):
        raise CrisptreeError(
            f"config is a TrainConfig or the path of its file, not {type(path).__name__}; "
            'overrides={"ppo.gamma": 0.97} sets fields by name'
        )
    return load(Path(path))


def check_keywords(
    called: Callable[..., Any], more: Sequence[Any], unknown: Mapping[str, Any]
) -> None:
    """Refuses settings without a name, and names that are none."""
    if more:
        size = more[0] if isinstance(more[0], int) else 4
        raise CrisptreeError(
            f"{called.__name__} takes the environment first and all settings by keyword: "
            f"{called.__name__}(env, leaves={size})"
        )
    if unknown:
        raise CrisptreeError(unknown_keyword(next(iter(unknown)), called))


def check_callback(callback: Any) -> None:
    """Refuses what cannot be called with the figures of an update."""
    if callback is not None and not callable(callback):
        raise CrisptreeError(
            f"a callback is a function that takes a dict of figures, not {type(callback).__name__}"
        )


ELSEWHERE = {
    "leafs": "leaves",
    "n_leaves": "leaves",
    "max_depth": "leaves",
    "max_leaves": "leaves",
    "max_leaf_nodes": "leaves",
    "minutes": "budget",
    "timesteps": "steps",
    "total_timesteps": "steps",
    "n_steps": "steps",
    "random_state": "seed",
    "verbose": "progress",
    "progress_bar": "progress",
    "callback": "on_progress",
    "callbacks": "on_progress",
    "path": "out",
    "tensorboard_log": "track",
    "n_episodes": "episodes",
    "eval_episodes": "episodes",
    "n_eval_episodes": "episodes",
    "lr": "learning_rate",
}
"""What other libraries call it, and what it is called here."""


def unknown_keyword(name: str, called: Callable[..., Any]) -> str:
    """A line that names the keyword that was probably meant."""
    known = _keywords(called)
    here = ELSEWHERE.get(name, name)
    learns = _keywords(getattr(called, "learn", None))
    if here in known:
        hint = f"did you mean {here}?"
    elif name in learns or here in learns:
        hint = f"learn() takes {name if name in learns else here}"
    elif fields := fields_named(here):
        hint = f'it is a field of the configuration: overrides={{"{fields[0]}": …}}'
    elif close := difflib.get_close_matches(name, known, n=1, cutoff=0.7):
        hint = f"did you mean {close[0]}?"
    else:
        hint = f"it takes {', '.join(known)}"
    return f"{called.__name__} takes no '{name}': {hint}"


def _keywords(called: Callable[..., Any] | None) -> list[str]:
    """The keywords of a function; not its first argument, the environment or the object."""
    names = [] if called is None else list(inspect.signature(called).parameters)[1:]
    return [name for name in names if name not in ("more", "unknown")]
