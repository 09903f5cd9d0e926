"""Execute one cell with the pipeline that `crisptree train` uses, in a folder that can resume."""

import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from crisptree.crisp import CrispTree
from crisptree.crispen.select import Selection
from crisptree.envs.spaces import describe
from crisptree.lab.experiments import beginnings
from crisptree.lab.experiments.agents import revived
from crisptree.lab.experiments.baselines import dagger_tree, state_action_tree
from crisptree.lab.experiments.cell import CRISPENED, FIXED, LEARNERS, Cell
from crisptree.lab.experiments.curves import curve_of_seed, curve_of_way, lines_of
from crisptree.lab.experiments.policies import random_policy, scripted_policy
from crisptree.lab.experiments.record import Record, SeedFigures, versions
from crisptree.lab.experiments.scoring import reported, selected
from crisptree.pipeline import attempts
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.paper import train_soft
from crisptree.pipeline.report import Reporter
from crisptree.pipeline.settings import Settings


@dataclass(frozen=True)
class Watched:
    """A learner's cell and its arrays: whom an imitator watches."""

    cell: Cell
    agent: bytes


@dataclass(frozen=True)
class Finished:
    record: Record
    agents: dict[int, bytes] = field(default_factory=dict)
    """Arrays of the soft agents, a seed each."""


def run_cell(
    cell: Cell, watched: Watched | None, folder: Path, kept: Path, tell: Reporter
) -> Finished:
    """The record of one cell. Interrupted and called again, it goes on where it was.

    In `kept` are beginnings that crispened cells have in common.
    """
    settings = settings_of(cell)
    agents: dict[int, bytes] = {}
    if cell.model in LEARNERS:
        assert settings is not None
        directory = _directory(folder, settings)
        seeds, agents = _learned(cell, settings, directory, tell)
    elif cell.model in CRISPENED:
        assert settings is not None
        beginnings.take(settings, folder, kept)
        seeds = [_crispened(cell, settings, _directory(folder, settings), tell)]
        beginnings.keep(settings, folder, kept)
    elif cell.model in FIXED:
        seeds = [_fixed(cell, seed) for seed in cell.seeds]
    else:
        assert watched is not None
        seeds = [_imitated(cell, watched, seed) for seed in cell.seeds]
    return Finished(
        Record(
            cell=cell,
            seeds=tuple(seeds),
            command=None if settings is None else settings.command(),
            versions=versions(),
        ),
        agents,
    )


def settings_of(cell: Cell) -> Settings | None:
    """What `crisptree train` would be asked for; None for what it does not train."""
    if cell.model not in LEARNERS + CRISPENED:
        return None
    return Settings(
        cell.env,
        leaves=cell.size if cell.model.endswith("tree") else None,
        rules=cell.size if cell.model.endswith("list") else None,
        mlp=cell.size if cell.model == "mlp" else None,
        seed=cell.first_seed,
        seeds=cell.n_seeds,
        steps=cell.steps,
        direct=cell.route == "direct",
        teacher=None if cell.route == "direct" else cell.route,
        paper=cell.model in ("soft-tree", "soft-list"),
        learning_rate=cell.learning_rate,
        starts=1,
        episodes=cell.episodes,
    )


def _directory(folder: Path, settings: Settings) -> RunDirectory:
    if (folder / "config.json").exists():
        return RunDirectory.resume(folder)[0]
    config = {"settings": settings.to_dict(), "crisptree": version("crisptree")}
    directory = RunDirectory(folder)
    directory.write_json("config.json", config)
    return directory


def _learned(
    cell: Cell, settings: Settings, directory: RunDirectory, tell: Reporter
) -> tuple[list[SeedFigures], dict[int, bytes]]:
    """Seeds side by side; the soft agent and what the paper's argmax makes of it."""
    every, agents = [], {}
    results = list(train_soft(settings, directory, tell))
    lines = lines_of(directory.path)
    for index, result in enumerate(results):
        tell.advance("scoring", index / len(results), f"seed {result.seed}")
        full = result.tree
        tree = None if full is None else full.simplify()
        every.append(
            SeedFigures(
                seed=result.seed,
                soft_returns=reported(result.policy, cell.env, result.seed, cell.episodes),
                soft_selection=selected(result.policy, cell.env, result.seed),
                crisp_returns=None
                if tree is None
                else reported(tree, cell.env, result.seed, cell.episodes),
                crisp_selection=result.selection_return,
                policy=None if tree is None else tree.to_dict(),
                full_policy=None if full is None else full.to_dict(),
                curve=curve_of_seed(lines, index),
                steps=result.steps,
                seconds=result.seconds,
            )
        )
        saved = "soft" if cell.n_seeds == 1 else f"seed-{result.seed}/soft"
        agents[result.seed] = (directory.path / saved / "agent.npz").read_bytes()
    return every, agents


def _crispened(
    cell: Cell, settings: Settings, directory: RunDirectory, tell: Reporter
) -> SeedFigures:
    """The way to crisp, one start."""
    assert cell.n_seeds == 1, "crisp trees are trained a seed a run"
    every, best = attempts.go(settings, cell.first_seed, directory, tell)
    arrived, path = every[best], attempts.folder_of(directory, best).path
    stages = [record for each in every for record in each.records]
    tell.advance("scoring", 0.0, f"{cell.episodes} unseen episodes")
    return SeedFigures(
        seed=cell.first_seed,
        crisp_returns=reported(arrived.tree, cell.env, cell.first_seed, cell.episodes),
        crisp_selection=arrived.selection_return,
        policy=arrived.tree.to_dict(),
        full_policy=_before_simplifying(path, arrived.tree).to_dict(),
        curve=curve_of_way(lines_of(path)),
        steps=sum(record.get("steps", 0) for record in stages),
        seconds=round(sum(record["seconds"] for record in stages), 2),
    )


def _before_simplifying(run: Path, tree: CrispTree) -> CrispTree:
    """The tree of the last stage before the cuts that cost nothing."""
    trees = {path.parent.name: path for path in sorted(run.glob("stages/*/policy.json"))}
    cut = next(i for i, name in enumerate(trees) if name.endswith("-simplify"))
    return CrispTree.load(list(trees.values())[cut - 1]) if cut > 0 else tree


def _imitated(cell: Cell, watched: Watched, seed: int) -> SeedFigures:
    began = time.monotonic()
    assert cell.size is not None
    task, teacher = describe(cell.env), revived(watched.cell, watched.agent)
    # Imitators draw from a selection stream of their own, apart from all ways' streams.
    selection = Selection(cell.env, 2**40 + seed)
    if cell.model == "dagger-dt":
        tree = dagger_tree(teacher, task, cell.size, seed, selection)
    else:
        tree = state_action_tree(teacher, task, cell.size, seed)
    return SeedFigures(
        seed=seed,
        crisp_returns=reported(tree, cell.env, seed, cell.episodes),
        crisp_selection=float(selection.returns([tree], 128)[0].mean()),
        policy=tree.to_dict(),
        seconds=round(time.monotonic() - began, 2),
    )


def _fixed(cell: Cell, seed: int) -> SeedFigures:
    began = time.monotonic()
    task = describe(cell.env)
    policy = (random_policy if cell.model == "random" else scripted_policy)(task, seed)
    return SeedFigures(
        seed=seed,
        soft_returns=reported(policy, cell.env, seed, cell.episodes),
        seconds=round(time.monotonic() - began, 2),
    )
