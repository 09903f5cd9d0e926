"""Candidates race, leg by leg: they begin in different ways or from different seeds, and after each
leg all of them go on from the best one's tree.

This is the one mechanism for trying something more than once. What a cut and the learning after it
cost is partly luck: the best of a few tries at every size beats the best of as many trees that were
cut without a choice in between.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import cores
from crisptree.crisp import CrispTree
from crisptree.envs.task import Task
from crisptree.pipeline.config import MOST_CANDIDATES, Beginning, TrainConfig, turns
from crisptree.pipeline.config_io import to_dict
from crisptree.pipeline.executor import Job, Message, ProcessEndedError, Workers
from crisptree.pipeline.leg import record_of, scores_together
from crisptree.pipeline.plan import legs, next_leg, plan
from crisptree.pipeline.progress import Prefixed, Reporter
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import LEAST_PACE, candidate_seed, run_stages
from crisptree.pipeline.timing import TimeLeft

ROUNDS = 4
"""Most rounds of candidates, where there is time for so many."""
LOST = 0.05
"""Another round is run if cuts cost more than this share of what the first tree earned."""
ROOM = 1.2
"""Another round needs this many times as long as the rounds before took on average."""


@dataclass(frozen=True)
class Candidate:
    number: int
    beginning: Beginning

    @property
    def name(self) -> str:
        return f"{self.number}-{self.beginning}"


@dataclass(frozen=True)
class Finished:
    """A candidate at the end of a leg."""

    candidate: Candidate
    tree: CrispTree
    selection_return: float
    """On selection episodes that are the same for all candidates of the leg."""
    records: tuple[dict[str, Any], ...]
    """The records of all stages that led to the tree, also those of other candidates in earlier
    legs."""
    folders: tuple[Path, ...]
    """The folders of the same stages."""
    settled: bool = False
    """Whether the tree is settled; see `stage.is_settled`."""
    episode_length: float = 0.0
    """Steps of the episodes that the tree was scored in."""


@dataclass(frozen=True)
class Outcome:
    best: Finished
    scores: dict[str, dict[str, float]]
    """What each candidate's tree earned at the end of each leg."""
    steps: int
    """Environment steps of all candidates in all legs."""
    seconds: float
    """Seconds of all candidates in all legs."""


def candidates_of(config: TrainConfig, round_: int = 0) -> list[Candidate]:
    """The candidates of the first leg of a round, one for each turn."""
    beginnings = turns(config)
    first = round_ * len(beginnings)
    return [Candidate(first + i, beginning) for i, beginning in enumerate(beginnings)]


def run_candidates(
    config: TrainConfig,
    task: Task,
    seed: int,
    directory: RunDirectory,
    report: Reporter,
    reuse: Path | None = None,
    time_left: TimeLeft | None = None,
) -> Outcome:
    """The best candidate after the last leg."""
    every = candidates_of(config)
    times = time_left or TimeLeft.of(config.budget, None, task, time.monotonic())
    race, found = _Race(config, task, seed, directory, report, times, reuse), None
    if config.table.first:
        found = race.run_table()
        if found.best.settled:
            return found
        report.note("  episodes earn less than the model promises: others try as well")
    alone = len(every) == config.candidates.tries == 1
    others = race.run_alone(every[0], directory) if alone else race.run_rounds()
    outcomes = [others] if found is None else [others, found]
    return max(outcomes, key=lambda each: each.best.selection_return)


def has_lost(outcome: Outcome) -> bool:
    """Whether the last tree earns clearly less than the first one did, before it was cut: then it
    is worth while to begin again."""
    first, last = max(outcome.scores["first"].values()), outcome.best.selection_return
    return not outcome.best.settled and first - last > LOST * abs(first)


class _Race:
    """Runs the candidates of one seed: each in a process and a folder of its own, or one alone in
    this process."""

    def __init__(
        self,
        config: TrainConfig,
        task: Task,
        seed: int,
        directory: RunDirectory,
        report: Reporter,
        times: TimeLeft,
        reuse: Path | None,
    ) -> None:
        self._config, self._task, self._seed = config, task, seed
        self._directory, self._report, self._reuse = directory, report, reuse
        minutes = math.inf if times.minutes is None else times.minutes
        self._times, self._end = times, time.monotonic() + 60 * minutes
        self._n_workers = config.candidates.workers or cores()
        self._steps, self._seconds = 0, 0.0

    def run_table(self) -> Outcome:
        """The outcome of a search on a learned model of the environment, in a share of the time."""
        table = Candidate(MOST_CANDIDATES - 1, "table")
        own = RunDirectory(self._directory.folder("table"))
        return self.run_alone(table, own, self._config.table.share)

    def run_alone(
        self, candidate: Candidate, directory: RunDirectory, share: float = 1.0
    ) -> Outcome:
        """The outcome of a single candidate, without a race."""
        minutes = self._minutes_left()
        made, records = run_stages(
            plan(candidate.beginning, self._config),
            self._task,
            self._config,
            candidate_seed(self._seed, candidate.number),
            directory,
            self._report,
            minutes=None if minutes is None else share * minutes,
            reuse=self._reuse,
            measured=self._times.measured,
            latest=self._times.latest,
        )
        assert made.tree is not None
        scored = [r["selection_return"] for r in records if r.get("selection_return") is not None]
        score = scored[-1] if scored else -math.inf
        folders = _folders(directory.path, records, 0)
        settled = bool(records[-1].get("settled"))
        best = Finished(candidate, made.tree, score, tuple(records), folders, settled)
        return Outcome(best, {}, _total(records, "steps"), _total(records, "seconds"))

    def _minutes_left(self) -> float | None:
        minutes = (self._end - time.monotonic()) / 60
        return None if minutes == math.inf else max(0.0, minutes)

    def run_rounds(self) -> Outcome:
        """The best outcome of one round of candidates, or of several if cuts cost much and less
        than half of the time is used."""
        best = self.run(candidates_of(self._config))
        most = min(ROUNDS, MOST_CANDIDATES // len(candidates_of(self._config)))
        for round_ in range(1, most):
            needed = ROOM * self._seconds / self._n_workers / round_
            # Without a budget, the steps that were asked for say how much is to be done.
            is_late = self._end - time.monotonic() < needed
            if self._config.budget is None or is_late or not has_lost(best):
                break
            self._report.note("  much was lost on the way, and there is time to begin again")
            other = self.run(candidates_of(self._config, round_))
            key = lambda each: (each.best.settled, each.best.selection_return)
            kept = max(best, other, key=key)
            joined = {leg: {**best.scores.get(leg, {}), **own} for leg, own in other.scores.items()}
            best = replace(other, best=kept.best, scores={**best.scores, **joined})
        return best

    def run(self, candidates: list[Candidate]) -> Outcome:
        """The outcome of one round."""
        first_number = candidates[0].number
        scores: dict[str, dict[str, float]] = {}
        best: Finished | None = None
        number, tries = 0, self._config.candidates.tries
        assert tries is not None
        with Workers(self._config.candidates.workers, self._config.candidates.executor) as workers:
            while True:
                began = time.monotonic()
                finished = self._run_leg(number, candidates, best, workers)
                took = time.monotonic() - began
                leg = legs(candidates[0].beginning, self._config)[number].name
                scores[leg] = {each.candidate.name: each.selection_return for each in finished}
                # A settled tree was played in more episodes than the others.
                best = max(
                    finished,
                    key=lambda each: (each.settled, each.selection_return, -each.tree.n_leaves),
                )
                beginning = best.candidate.beginning
                every, left = legs(beginning, self._config), self._end - time.monotonic()
                number = next_leg(every, number + 1, best.tree.n_leaves, left, took)
                if number == len(every):
                    return Outcome(best, scores, self._steps, round(self._seconds, 2))
                if len(finished) > 1:
                    self._report.note(f"  going on from {best.candidate.name}")
                candidates = [Candidate(first_number + i, beginning) for i in range(tries)]

    def _run_leg(
        self, number: int, candidates: list[Candidate], before: Finished | None, workers: Workers
    ) -> list[Finished]:
        """The candidates at the end of a leg, up to the first that is settled; later ones are not
        needed. Earlier ones are waited for: who counts must not depend on who is ready first."""
        results = self._results_of_before(number, candidates, before)

        def is_enough(name: str, result: dict[str, Any]) -> bool:
            results[name] = result
            return up_to_settled(candidates, results) is not None

        waiting = [each for each in candidates if each.name not in results]
        try:
            if up_to_settled(candidates, results) is None:
                jobs = self._jobs(number, waiting, before)
                workers.run(jobs, on_message=self._on_message, is_enough=is_enough)
        except ProcessEndedError as error:
            raise CrisptreeError(
                f"{error}; the environment '{self._task.name}' was at work in it"
            ) from error
        counted = up_to_settled(candidates, results) or candidates
        found = self._compared(number, [results[each.name] for each in counted])
        done = list(zip(counted, found, strict=True))
        self._steps += sum(_total(result["records"], "steps") for _, result in done)
        self._seconds += sum(_total(result["records"], "seconds") for _, result in done)
        return [self._finished(each, result, before) for each, result in done]

    def _compared(self, number: int, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The results, all with a score."""
        if all(each["selection_return"] is not None for each in results):
            return results
        self._report.advance("choosing", 0.0, "on the same episodes")
        trees = [CrispTree.from_dict(each["policy"]) for each in results]
        scores = scores_together(trees, self._config, self._task, self._seed, number, self._times)
        scored = zip(results, scores, strict=True)
        return [{**each, "selection_return": score} for each, score in scored]

    def _results_of_before(
        self, number: int, candidates: list[Candidate], before: Finished | None
    ) -> dict[str, Any]:
        """The results of candidates that finished the leg before the run was interrupted."""
        found = {}
        for each in candidates:
            result = RunDirectory(self._folder(each)).read_checked(record_of(number))
            if result is not None and result["before"] == _key(before):
                found[each.name] = result
        self._end -= max((_total(each["records"], "seconds") for each in found.values()), default=0)
        return found

    def _jobs(
        self, number: int, candidates: list[Candidate], before: Finished | None
    ) -> Iterator[Job]:
        """The jobs of the candidates. Each is made when a worker is free, and says how much time is
        left."""
        for position, each in enumerate(candidates):
            waiting: list[Beginning] = [other.beginning for other in candidates[position:]]
            folder = self._folder(each)
            arguments = {
                "config": to_dict(self._config),
                "source": self._task.source.to_bytes(),
                "seed": self._seed,
                "number": each.number,
                "beginning": each.beginning,
                "leg": number,
                "folder": str(folder),
                "before": None if before is None else _inputs_of_next_leg(before),
                "times": asdict(replace(self._times, minutes=self._minutes_left())),
                "later": later_weight(self._config, number, waiting, self._n_workers),
                "reuse": None if self._reuse is None else str(self._reuse),
            }
            function = "crisptree.pipeline.leg:run_leg"
            yield Job(each.name, function, arguments, str(folder / "log.txt"))

    def _finished(
        self, candidate: Candidate, result: dict[str, Any], before: Finished | None
    ) -> Finished:
        records, n_before = result["records"], 0 if before is None else len(before.records)
        folders = _folders(self._folder(candidate), records, n_before)
        return Finished(
            candidate,
            CrispTree.from_dict(result["policy"]),
            result["selection_return"],
            (*(() if before is None else before.records), *records),
            (*(() if before is None else before.folders), *folders),
            result["settled"],
            result["episode_length"],
        )

    def _folder(self, candidate: Candidate) -> Path:
        return self._directory.folder(f"candidates/{candidate.name}")

    def _on_message(self, name: str, message: Message) -> None:
        said = Prefixed(self._report, name)
        if "advance" in message:
            said.advance(*message["advance"])
        elif "note" in message:
            said.note(message["note"])


def up_to_settled(
    candidates: list[Candidate], results: dict[str, dict[str, Any]]
) -> list[Candidate] | None:
    """The candidates up to the first that is settled; None if that is not known yet."""
    for count, each in enumerate(candidates, 1):
        if each.name not in results:
            return None
        if results[each.name]["settled"]:
            return candidates[:count]
    return None


def later_weight(config: TrainConfig, leg: int, waiting: list[Beginning], n_workers: int) -> float:
    """The weight of all that comes after the first waiting candidate's leg.

    If more candidates wait than there are workers, they share the time of the slowest.
    """
    every = [legs(beginning, config)[leg:] for beginning in waiting]
    weights = [rest[0].weight for rest in every]
    crowding = max(1.0, sum(weights) / n_workers / max(weights))
    whole = max(weights) + sum(each.weight for each in every[0][1:])
    return whole * crowding - weights[0]


def _folders(directory: Path, records: list[dict[str, Any]], n_before: int) -> tuple[Path, ...]:
    return tuple(
        directory / "stages" / f"{number:02d}-{record['stage']}"
        for number, record in enumerate(records, n_before + 1)
    )


def _key(before: Finished | None) -> str:
    return "" if before is None else before.records[-1]["key"]


def _total(records: Any, name: str) -> Any:
    return sum(record.get(name, 0) for record in records)


def _inputs_of_next_leg(finished: Finished) -> dict[str, Any]:
    """What the next leg needs of the leg before it, as plain JSON."""
    returns = [each["best_return"] for each in finished.records if each.get("best_return")]
    paces = [each["pace"] for each in finished.records if each.get("pace") is not None]
    return {
        "folder": str(finished.folders[-1]),
        "key": _key(finished),
        "n_stages": len(finished.records),
        "pace": max(LEAST_PACE, paces[-1]) if paces else 1.0,
        "best_return": max(returns, default=-math.inf),
        "settled": finished.settled,
        "episode_length": finished.episode_length,
    }
