"""All results as one JSON object."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from crisptree.lab.experiments import paper
from crisptree.lab.experiments.domains import domain_of
from crisptree.lab.experiments.pareto import front_of, points_of, worth_it
from crisptree.lab.experiments.plan import Grid
from crisptree.lab.experiments.readable import readable_policies
from crisptree.lab.experiments.summary import TITLES, Group, best_of
from crisptree.lab.experiments.table import PAPER_ROWS, RIVALS, improvement, middle
from crisptree.pipeline.directory import plain

FORMAT = "crisptree.results"


def as_json(groups: Sequence[Group], grid: Grid) -> dict[str, Any]:
    """Plain dictionaries, lists and numbers."""
    content = {
        "format": FORMAT,
        "version": 1,
        "asked": dataclasses.asdict(grid),
        "domains": {domain_of(env).name: _domain(groups, env) for env in grid.envs},
    }
    return plain(content)


def _domain(groups: Sequence[Group], env: str) -> dict[str, Any]:
    name = domain_of(env).name
    best = {row: group for row in TITLES if (group := best_of(groups, env, row)) is not None}
    worth = worth_it(points := points_of(groups, env))
    return {
        "env": env,
        "table": [
            {
                **_group(group),
                "iqm": middle(group)._asdict(),
                "paper": _reported(row, name),
            }
            for row, group in best.items()
        ],
        "improvement": [
            {"model": a, "over": b, **improvement(best[a], best[b])._asdict()}
            for a, b in RIVALS
            if a in best and b in best
        ],
        "sweep": [_group(group) for group in groups if group.cell.env == env],
        "pareto": [
            {"row": p.group.row, "size": p.group.cell.size, "leaves": p.leaves, "mean": p.score}
            for p in front_of(points)
        ],
        "worth_it": None if worth is None else {**_group(worth.group), "mean_leaves": worth.leaves},
        "policies": [
            {"file": f"policies/{p.name}.json", **p.tree.training, "leaves": p.tree.n_leaves}
            for p in readable_policies(groups, env)
        ],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "row": group.row,
        "size": group.cell.size,
        "learning_rate": group.cell.learning_rate,
        "mean": group.score.mean,
        "standard_error": group.score.error,
        "every_seed": {str(s.seed): x for s, x in zip(group.seeds, group.scores, strict=True)},
        "episodes": group.episodes,
        "leaves": group.leaves if group.is_crisp else None,
        "seconds": round(sum(each.seconds or 0.0 for each in group.seeds), 1),
        "teacher": group.cell.teacher,
        "commands": list(group.commands),
    }


def _reported(row: str, domain: str) -> dict[str, Any] | None:
    found = paper.TABLE_1.get((PAPER_ROWS.get(row, ""), domain))
    return None if found is None else found._asdict()
