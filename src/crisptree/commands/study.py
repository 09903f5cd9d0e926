"""`crisptree study …`: the interpretability study, from its plan to its report."""

import json
import sys
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.base.interrupts import interrupts_raise
from crisptree.commands.options import option, positional
from crisptree.commands.study_policies import Binarise, Mlp, Worksheet, visited_states


@dataclass(frozen=True, kw_only=True)
class InDatabase:
    """A part of the command that works on a study in a database."""

    database: str = "study.db"
    """An SQLite file, or postgresql://USER:PASSWORD@HOST/NAME."""
    name: str = "study"
    """The study's name; a database may hold several."""


@dataclass(frozen=True)
class Serve(InDatabase):
    """Run the questionnaire as a web server."""

    policies: Annotated[tuple[str, ...], option("[KIND:]FILE ...")] = ()
    """The policies to compare: policy files, or MLP files as `study mlp` writes them. KIND is
    tree, list or mlp, where the drawing should not be left to the policy's shape. Unless given,
    the tree, the rule list and the MLP for CartPole that come with crisptree."""
    questionnaire: Path | None = None
    """A TOML file with texts, statements and questions of your own."""
    env: str | None = None
    """The environment whose states are asked about, if not the one each policy file names. Only
    what is named here may import a module."""
    features: str | None = None
    """`module:function` that makes features of the environment's observations."""
    items: int = 5
    """Questions about each policy."""
    seed: int = 0
    """Chooses the states asked about, and the orders people meet them in."""
    host: str = "127.0.0.1"
    """The address to listen at."""
    port: int = 8000
    """The port to listen at; 0 takes a free one."""
    url: str | None = None
    """Where people reach the server, if not at http://HOST:PORT."""
    secret_file: Path | None = None
    """A file with the secret that opens the researcher's pages. Unless given, the environment
    variable CRISPTREE_STUDY_SECRET, or else a new one, which is printed."""
    invited_only: bool = False
    """No open link: only people with a personal link can take part."""

    def run(self) -> None:
        from crisptree.lab.study import database, server
        from crisptree.lab.study.questionnaire import load_questionnaire
        from crisptree.lab.study.web import create_app

        own = None if self.questionnaire is None else load_questionnaire(self.questionnaire)
        secret, is_new = server.researcher_secret(self.secret_file)
        engine = database.open_engine(self.database)
        with database.transaction(engine) as connection:
            study = server.open_study(
                connection,
                self.name,
                self.policies,
                own,
                n_items=self.items,
                seed=self.seed,
                visit=partial(visited_states, env=self.env, features=self.features),
            )
        listener = server.listen(self.host, self.port)
        url = self.url or server.url_of(self.host, listener)
        app = create_app(engine, study, secret=secret, url=url, open_link=not self.invited_only)
        where = database.name_of(engine.url)
        lines = [f"study {study.name}: {len(study.definition.blocks)} policies, in {where}"]
        if not self.invited_only:
            lines.append(f"participants: {url}/join/{study.join_code}")
        lines.append(f"researcher:   {url}/researcher" + (f"  secret: {secret}" if is_new else ""))
        print("\n".join(lines), flush=True)
        with interrupts_raise():
            server.serve(app, listener)


@dataclass(frozen=True)
class Invite(InDatabase):
    """Make personal links, one for each participant."""

    people: int = 15
    """How many."""
    url: str = "http://127.0.0.1:8000"
    """Where people reach the server."""
    simulated: bool = False
    """For programs that try the study out: their answers are marked and never counted with
    people's."""

    def run(self) -> None:
        from crisptree.lab.study import database

        if not 1 <= self.people <= 10_000:
            raise CrisptreeError(f"--people is {self.people}; it must lie in 1 … 10,000")
        with database.transaction(database.open_existing(self.database)) as connection:
            study = database.the_study(connection, self.name)
            links = database.invite(connection, study, self.people, simulated=self.simulated)
        for link in links:
            print(f"{self.url.rstrip('/')}/p/{link}")


@dataclass(frozen=True)
class Export(InDatabase):
    """Write all answers as a table, one row for each."""

    out: Annotated[Path | None, option("FILE")] = None
    """A .csv or .parquet file; unless given, CSV on standard output."""

    def run(self) -> None:
        from crisptree.commands.shared import write_and_say
        from crisptree.lab.study import database
        from crisptree.lab.study.answer_table import as_csv, as_parquet

        ending = ".csv" if self.out is None else self.out.suffix.lower()
        if ending not in (".csv", ".parquet"):
            raise CrisptreeError(f"--out ends in {ending!r}; it must end in .csv or .parquet")
        with database.transaction(database.open_existing(self.database)) as connection:
            rows = database.read_rows(connection, database.the_study(connection, self.name))
        if self.out is None:
            sys.stdout.write(as_csv(rows))
            return
        content = as_csv(rows) if ending == ".csv" else as_parquet(rows)
        write_and_say(self.out, content)


@dataclass(frozen=True)
class Report(InDatabase):
    """Accuracy, time and ratings per policy, with the paper's tests, in words and figures."""

    out: Annotated[Path | None, option("DIR")] = None
    """A directory for report.md, report.json, figure.svg, figure.png and answers.csv."""
    most_away: float = 60.0
    """People who were away from the questions for more seconds than this are left out."""
    json: bool = False
    """Print all numbers as one JSON object."""

    def run(self) -> None:
        from crisptree.lab.study import database
        from crisptree.lab.study.answer_table import as_csv
        from crisptree.lab.study.study_report import as_markdown, write_report
        from crisptree.lab.study.study_results import results_of, to_json

        with database.transaction(database.open_existing(self.database)) as connection:
            study = database.the_study(connection, self.name)
            rows = database.read_rows(connection, study)
        results = results_of(study, rows, self.most_away)
        title = f"Study {study.name}"
        if self.out is not None:
            write_report(results, title, self.out, as_csv(rows))
        if self.json:
            print(json.dumps(to_json(results), allow_nan=False))
        else:
            print(as_markdown(results, title))


@dataclass(frozen=True)
class Delete(InDatabase):
    """Delete one participant with all answers, for good."""

    participant: Annotated[int, positional("NUMBER")]
    """The participant's number, which stands at the foot of their pages."""

    def run(self) -> None:
        from crisptree.lab.study import database

        engine = database.open_existing(self.database)
        with database.transaction(engine) as connection:
            study = database.the_study(connection, self.name)
            found = database.delete_participant(connection, study, self.participant)
        if not found:
            raise CrisptreeError(f"the study {self.name!r} has no participant {self.participant}")
        database.truncate_journal(engine)
        print(f"participant {self.participant} is deleted")


@dataclass(frozen=True)
class Plan:
    """The power of a planned study, by simulating it many times under your assumptions."""

    people: tuple[int, ...] = (8, 12, 15, 20, 30)
    """How many people; each number is tried."""
    ratings: tuple[float, ...] = (5.5, 5.3, 4.2)
    """The mean rating you expect of each policy, 1 … 7."""
    seconds: tuple[float, ...] = (8.0, 9.0, 15.0)
    """The median seconds a question you expect with each policy."""
    correct: tuple[float, ...] = (0.95, 0.95, 0.85)
    """The chance of a right answer you expect with each policy."""
    rating_sd: tuple[float, float, float] = (0.7, 0.8, 1.0)
    """How far ratings differ between people, between a person's views of the policies, and between
    statements about one policy (standard deviations)."""
    log_seconds_sd: tuple[float, float, float] = (0.4, 0.3, 0.4)
    """The same for the logarithm of times: between people, between a person's policies, and
    between questions about one policy."""
    items: int = 5
    """Questions about each policy."""
    statements: int = 5
    """Statements rated about each policy."""
    studies: int = 2000
    """Simulated studies for each number of people."""
    alpha: float = 0.05
    """The level of significance."""
    seed: int = 0
    """One seed, one result."""
    example: Annotated[Path | None, option("DIR")] = None
    """A directory for the report of one simulated study, marked as such: what to expect."""
    json: bool = False
    """Print the result as one JSON object."""

    def run(self) -> None:
        from crisptree.lab.study.power import plan, power_table, write_example
        from crisptree.lab.study.simulation import Assumptions
        from crisptree.lab.study.validation import validated

        names = [each.name for each in fields(Assumptions)]
        assumed = validated(Assumptions, {name: getattr(self, name) for name in names})
        found = plan(assumed, self.people, studies=self.studies, alpha=self.alpha, seed=self.seed)
        if self.example is not None:
            write_example(assumed, max(self.people), self.seed, self.example)
        if self.json:
            print(json.dumps({"alpha": self.alpha, "power": [each.to_dict() for each in found]}))
        else:
            print(power_table(found, self.alpha))


ABOUT = "Ask people how readable policies are: a tree, a rule list and an MLP, or your own."
PARTS = {
    "plan": Plan,
    "serve": Serve,
    "invite": Invite,
    "export": Export,
    "report": Report,
    "delete": Delete,
    "mlp": Mlp,
    "binarise": Binarise,
    "worksheet": Worksheet,
}
