"""The database: SQLite or PostgreSQL behind a handful of functions.

Each works on a connection whose transaction its caller began: a web page is one transaction, and
says that something is saved only after the commit.
"""

from crisptree.lab.study.database.answers import all_answers as all_answers
from crisptree.lab.study.database.answers import answered_pages as answered_pages
from crisptree.lab.study.database.answers import note_view as note_view
from crisptree.lab.study.database.answers import read_rows as read_rows
from crisptree.lab.study.database.answers import store_answer as store_answer
from crisptree.lab.study.database.engine import name_of as name_of
from crisptree.lab.study.database.engine import open_engine as open_engine
from crisptree.lab.study.database.engine import open_existing as open_existing
from crisptree.lab.study.database.engine import transaction as transaction
from crisptree.lab.study.database.engine import truncate_journal as truncate_journal
from crisptree.lab.study.database.participants import add_newcomer as add_newcomer
from crisptree.lab.study.database.participants import all_participants as all_participants
from crisptree.lab.study.database.participants import count_idle_newcomers as count_idle_newcomers
from crisptree.lab.study.database.participants import delete_participant as delete_participant
from crisptree.lab.study.database.participants import find_by_link as find_by_link
from crisptree.lab.study.database.participants import invite as invite
from crisptree.lab.study.database.studies import close_session as close_session
from crisptree.lab.study.database.studies import create_study as create_study
from crisptree.lab.study.database.studies import find_study as find_study
from crisptree.lab.study.database.studies import open_session as open_session
from crisptree.lab.study.database.studies import session_is_open as session_is_open
from crisptree.lab.study.database.studies import the_study as the_study
