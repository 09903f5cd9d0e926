"""The tables: studies, researchers' sessions, participants, pages shown, and answers.

Times are milliseconds since 1970 by the server's clock. A participant's link is stored as its
SHA-256 only, so that the database does not open anybody's questionnaire; a session likewise. There
is no column for a name, an address or a browser.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

METADATA = MetaData()

studies = Table(
    "crisptree_studies",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("definition", JSON, nullable=False),
    Column("signing_key", String(64), nullable=False),
    Column("join_code", String(64), nullable=False, unique=True),
    # Of everybody ever invited, so that a deleted participant's number never comes again.
    Column("last_number", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

sessions = Table(
    "crisptree_sessions",
    METADATA,
    Column("token_hash", String(64), primary_key=True),
    Column("study_id", ForeignKey("crisptree_studies.id"), nullable=False),
    Column("opened_at", BigInteger, nullable=False),
)

participants = Table(
    "crisptree_participants",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("study_id", ForeignKey("crisptree_studies.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("link_hash", String(64), nullable=False, unique=True),
    Column("simulated", Boolean, nullable=False),
    Column("is_newcomer", Boolean, nullable=False),  # came by the open link
    Column("created_at", BigInteger, nullable=False),
    # From here on only of those who agreed to take part.
    Column("begun_at", BigInteger),
    Column("order_row", Integer),
    Column("assignment", JSON(none_as_null=True)),
    Column("finished_at", BigInteger),
    Column("completion_code", String(16)),
    UniqueConstraint("study_id", "number"),
)


def _of_participant() -> Column:
    """Part of the key of what goes with a participant."""
    owner = ForeignKey("crisptree_participants.id", ondelete="CASCADE")
    return Column("participant_id", owner, primary_key=True)


views = Table(
    "crisptree_views",
    METADATA,
    _of_participant(),
    Column("page", String(80), primary_key=True),
    Column("first_shown_at", BigInteger, nullable=False),
    Column("times_shown", Integer, nullable=False),
)

answers = Table(
    "crisptree_answers",
    METADATA,
    _of_participant(),
    # One answer for each participant and page: the key, not the program, keeps a second one out.
    Column("page", String(80), primary_key=True),
    Column("value", JSON, nullable=False),
    Column("stored_at", BigInteger, nullable=False),
    Column("browser_ms", BigInteger),
    Column("away_ms", BigInteger),
    Column("focus_log", JSON(none_as_null=True)),
)
