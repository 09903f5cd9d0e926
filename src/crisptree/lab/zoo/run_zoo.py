"""Bring every training of the zoo into its store; what fails leaves a line, and the others run."""

from collections.abc import Iterable, Sequence

from crisptree.base.errors import CrisptreeError
from crisptree.lab.zoo.entry import Entry
from crisptree.lab.zoo.record import ZooRecord, ZooStore
from crisptree.lab.zoo.run_entry import run_entry
from crisptree.pipeline.progress import Prefixed, Reporter


def run_zoo(
    entries: Sequence[Entry],
    seeds: Iterable[int],
    budget: float | None,
    store: ZooStore,
    report: Reporter,
) -> dict[str, str]:
    """Run what is missing, seed by seed; why entries failed, by name."""
    failed: dict[str, str] = {}
    for seed in seeds:
        for entry in entries:
            config = entry.config(seed, budget)
            key = entry.key(config)
            if entry.name in failed or store.record(key) is not None:
                continue
            try:
                work = store.files.work_folder / key
                record = run_entry(entry, config, work, Prefixed(report, entry.slug))
            except CrisptreeError as error:
                failed[entry.name] = str(error)
                report.note(f"{entry.name}: {error}")
                continue
            store.put(record)
            report.note(_in_a_line(record))
    return failed


def _in_a_line(record: ZooRecord) -> str:
    figures = ", ".join(f"{name} {each.mean:.4g}" for name, each in record.figures.items())
    return f"{record.name} seed {record.seed}: {figures} ({record.seconds['training']:.0f} s)"
