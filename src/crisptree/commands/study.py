"""`crisptree study …`: the interpretability study, from its plan to its report."""

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import OptionalPath, OptionalStr, optional
from crisptree.commands.study_aids import Binarise, Mlp, Worksheet, visited_states


@contextlib.contextmanager
def needing(extra: str) -> Iterator[None]:
    """Imports that come with an extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise CrisptreeError(
            f"this needs the package {error.name}: pip install 'crisptree[{extra}]'"
        ) from None


@dataclass(frozen=True)
class Serve:
    """Run the questionnaire as a web server."""

    policies: Annotated[tuple[str, ...], tyro.conf.arg(metavar="[KIND:]FILE ...")] = ()
    """The policies to compare: policy files, or MLP files as `study mlp` writes them. KIND is
    tree, list or mlp, where the drawing should not be left to the policy's shape. Unless given,
    the tree, the rule list and the MLP for CartPole that come with crisptree."""
    database: str = "study.db"
    """An SQLite file, or postgresql://USER:PASSWORD@HOST/NAME."""
    name: str = "study"
    """The study's name; a database may hold several. One that exists goes on."""
    questionnaire: OptionalPath = None
    """A TOML file with texts, statements and questions of your own."""
    items: int = 5
    """Questions about each policy."""
    seed: int = 0
    """Chooses the states asked about, and the orders people meet them in."""
    host: str = "127.0.0.1"
    """The address to listen at."""
    port: int = 8000
    """The port to listen at; 0 takes a free one."""
    url: OptionalStr = None
    """Where people reach the server, if not at http://HOST:PORT."""
    secret_file: OptionalPath = None
    """A file with the secret that opens the researcher's pages. Unless given, the environment
    variable CRISPTREE_STUDY_SECRET, or else a new one, which is printed."""
    invited_only: bool = False
    """No open link: only people with a personal link can take part."""

    def run(self) -> None:
        with needing("study"):
            from crisptree.lab.study.questionnaire import load_questionnaire
            from crisptree.lab.study.serving import (
                listen,
                open_study,
                researcher_secret,
                serve,
                url_of,
            )
            from crisptree.lab.study.store import open_engine
            from crisptree.lab.study.store.engine import name_of
            from crisptree.lab.study.web import create_app

        own = None if self.questionnaire is None else load_questionnaire(self.questionnaire)
        secret, is_new = researcher_secret(self.secret_file)
        engine = open_engine(self.database)
        with engine.begin() as connection:
            study = open_study(
                connection,
                self.name,
                self.policies,
                own,
                n_items=self.items,
                seed=self.seed,
                visit=visited_states,
            )
        listener = listen(self.host, self.port)
        url = self.url or url_of(self.host, listener)
        app = create_app(engine, study, secret=secret, url=url, open_link=not self.invited_only)
        where = name_of(engine.url)
        lines = [f"study {study.name}: {len(study.definition.blocks)} policies, in {where}"]
        if not self.invited_only:
            lines.append(f"participants: {url}/join/{study.join_code}")
        lines.append(f"researcher:   {url}/researcher" + (f"  secret: {secret}" if is_new else ""))
        print("\n".join(lines), flush=True)
        serve(app, listener)


@dataclass(frozen=True)
class Invite:
    """Make personal links, one a participant."""

    people: int = 15
    """How many."""
    url: str = "http://127.0.0.1:8000"
    """Where people reach the server."""
    database: str = "study.db"
    """An SQLite file or postgresql://…"""
    name: str = "study"
    """The study's name."""
    simulated: bool = False
    """For programs that try the study out: their answers are marked and never counted with
    people's."""

    def run(self) -> None:
        with needing("study"):
            from crisptree.lab.study.store import invite, open_existing, the_study

        if not 1 <= self.people <= 10_000:
            raise CrisptreeError(f"--people is {self.people}; it must lie in 1 … 10,000")
        with open_existing(self.database).begin() as connection:
            study = the_study(connection, self.name)
            links = invite(connection, study, self.people, simulated=self.simulated)
        for link in links:
            print(f"{self.url.rstrip('/')}/p/{link}")


@dataclass(frozen=True)
class Export:
    """Write all answers as a table, one row an answer."""

    out: Annotated[Path | None, optional("FILE")] = None
    """A .csv or .parquet file; unless given, CSV on standard output."""
    database: str = "study.db"
    """An SQLite file or postgresql://…"""
    name: str = "study"
    """The study's name."""

    def run(self) -> None:
        with needing("study"):
            from crisptree.lab.study.export import as_csv, as_parquet, tidy_rows
            from crisptree.lab.study.store import open_existing, the_study
        from crisptree.base.files import write_atomically

        ending = ".csv" if self.out is None else self.out.suffix.lower()
        if ending not in (".csv", ".parquet"):
            raise CrisptreeError(f"--out ends in {ending!r}; it must end in .csv or .parquet")
        with open_existing(self.database).begin() as connection:
            rows = tidy_rows(connection, the_study(connection, self.name))
        if self.out is None:
            sys.stdout.write(as_csv(rows))
            return
        with needing("stats"):
            content = as_csv(rows) if ending == ".csv" else as_parquet(rows)
        write_atomically(self.out, content)


@dataclass(frozen=True)
class Report:
    """Accuracy, time and ratings per policy, with the paper's tests, in words and figures."""

    out: Annotated[Path | None, optional("DIR")] = None
    """A folder for report.md, report.json, figure.svg, figure.png and answers.csv."""
    most_away: float = 60.0
    """Left out is who was away from the questions for more seconds than this."""
    database: str = "study.db"
    """An SQLite file or postgresql://…"""
    name: str = "study"
    """The study's name."""
    json: bool = False
    """Print all numbers as one JSON object."""

    def run(self) -> None:
        with needing("study"):
            from crisptree.lab.study.export import as_csv, tidy_rows
            from crisptree.lab.study.store import open_existing, the_study
        with needing("stats"):
            from crisptree.lab.study.analysis import analyse, to_json
            from crisptree.lab.study.folder import write_report
            from crisptree.lab.study.measures import measure
            from crisptree.lab.study.report import as_markdown

        with open_existing(self.database).begin() as connection:
            study = the_study(connection, self.name)
            rows = tidy_rows(connection, study)
        aids = [block.name for block in study.definition.blocks]
        statements = study.definition.questionnaire.statements
        analysis = analyse(measure(rows, aids, statements, self.most_away))
        title = f"Study {study.name}"
        if self.out is not None:
            write_report(analysis, title, self.out, as_csv(rows))
        if self.json:
            print(json.dumps(to_json(analysis), allow_nan=False))
        else:
            print(as_markdown(analysis, title))


@dataclass(frozen=True)
class Delete:
    """Delete one participant with all answers, for good."""

    participant: Annotated[tyro.conf.Positional[int], tyro.conf.arg(metavar="NUMBER")]
    """The participant's number, which stands at the foot of their pages."""
    database: str = "study.db"
    """An SQLite file or postgresql://…"""
    name: str = "study"
    """The study's name."""

    def run(self) -> None:
        with needing("study"):
            from crisptree.lab.study.store import fold_journal, forget, open_existing, the_study

        engine = open_existing(self.database)
        with engine.begin() as connection:
            found = forget(connection, the_study(connection, self.name), self.participant)
        if not found:
            raise CrisptreeError(f"the study {self.name!r} has no participant {self.participant}")
        fold_journal(engine)
        print(f"participant {self.participant} is deleted")


@dataclass(frozen=True)
class Plan:
    """The power of a planned study, by simulating it many times under your assumptions."""

    people: tuple[int, ...] = (8, 12, 15, 20, 30)
    """How many people; each number is tried."""
    ratings: tuple[float, ...] = (5.5, 5.3, 4.2)
    """The mean rating you expect of each aid, 1 … 7."""
    seconds: tuple[float, ...] = (8.0, 9.0, 15.0)
    """The median seconds a question you expect with each aid."""
    correct: tuple[float, ...] = (0.95, 0.95, 0.85)
    """The chance of a right answer you expect with each aid."""
    rating_sd: tuple[float, float, float] = (0.7, 0.8, 1.0)
    """How far ratings differ between people, between a person's views of the aids, and between
    statements about one aid (standard deviations)."""
    log_seconds_sd: tuple[float, float, float] = (0.4, 0.3, 0.4)
    """The same for the logarithm of times: people, a person's aids, questions about one aid."""
    items: int = 5
    """Questions about each aid."""
    statements: int = 5
    """Statements rated about each aid."""
    studies: int = 2000
    """Simulated studies for each number of people."""
    alpha: float = 0.05
    """The level of significance."""
    seed: int = 0
    """One seed, one result."""
    example: Annotated[Path | None, optional("DIR")] = None
    """A folder for the report of one simulated study, marked as such: what to expect."""
    json: bool = False
    """Print the result as one JSON object."""

    def run(self) -> None:
        with needing("stats"):
            from crisptree.lab.study.planning import plan, told, write_example
            from crisptree.lab.study.simulate import Assumptions

        assumed = Assumptions(
            self.ratings, self.seconds, self.correct, *self.rating_sd, *self.log_seconds_sd
        )
        found = plan(
            assumed,
            self.people,
            self.items,
            self.statements,
            studies=self.studies,
            alpha=self.alpha,
            seed=self.seed,
        )
        if self.example is not None:
            n = max(self.people)
            write_example(assumed, n, self.items, self.statements, self.seed, self.example)
        if self.json:
            print(json.dumps({"alpha": self.alpha, "power": [each.to_dict() for each in found]}))
        else:
            print(told(found, self.alpha))


def _named(name: str):
    return tyro.conf.subcommand(name, prefix_name=False)


@dataclass(frozen=True)
class Command:
    """Ask people how readable policies are: a tree, a rule list and an MLP, or your own."""

    what: Annotated[
        Annotated[Plan, _named("plan")]
        | Annotated[Serve, _named("serve")]
        | Annotated[Invite, _named("invite")]
        | Annotated[Export, _named("export")]
        | Annotated[Report, _named("report")]
        | Annotated[Delete, _named("delete")]
        | Annotated[Mlp, _named("mlp")]
        | Annotated[Binarise, _named("binarise")]
        | Annotated[Worksheet, _named("worksheet")],
        tyro.conf.arg(name=""),
    ]

    def run(self) -> None:
        self.what.run()
