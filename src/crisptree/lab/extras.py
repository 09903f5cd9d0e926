"""Which extra of crisptree brings a package that is missing."""

import contextlib
from collections.abc import Iterator

from crisptree.base.errors import CrisptreeError

EXTRAS = {
    "fastapi": "study",
    "jaxtyping": "study",
    "jinja2": "study",
    "matplotlib": "study",
    "pyarrow": "study",
    "pydantic": "study",
    "scipy": "study",
    "sqlalchemy": "study",
    "uvicorn": "study",
    "psycopg": "pg",
}


@contextlib.contextmanager
def extra_packages() -> Iterator[None]:
    """Imports of packages that come with an extra: a missing one is told with its extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise CrisptreeError(
            f"this needs the package {package}: pip install 'crisptree[{EXTRAS[package]}]'"
        ) from None
