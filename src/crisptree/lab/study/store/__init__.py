"""The database: SQLite or PostgreSQL behind a handful of functions.

Each works on a connection whose transaction its caller began: a web page is one transaction, and
says that something is saved only after the commit.
"""

from crisptree.lab.study.store.answers import Answer as Answer
from crisptree.lab.study.store.answers import Timing as Timing
from crisptree.lab.study.store.answers import all_answers as all_answers
from crisptree.lab.study.store.answers import answered_steps as answered_steps
from crisptree.lab.study.store.answers import note_view as note_view
from crisptree.lab.study.store.answers import store_answer as store_answer
from crisptree.lab.study.store.engine import fold_journal as fold_journal
from crisptree.lab.study.store.engine import open_engine as open_engine
from crisptree.lab.study.store.engine import open_existing as open_existing
from crisptree.lab.study.store.participants import Participant as Participant
from crisptree.lab.study.store.participants import all_participants as all_participants
from crisptree.lab.study.store.participants import count_waiting as count_waiting
from crisptree.lab.study.store.participants import find_by_link as find_by_link
from crisptree.lab.study.store.participants import forget as forget
from crisptree.lab.study.store.participants import invite as invite
from crisptree.lab.study.store.studies import Study as Study
from crisptree.lab.study.store.studies import create_study as create_study
from crisptree.lab.study.store.studies import find_study as find_study
from crisptree.lab.study.store.studies import the_study as the_study
