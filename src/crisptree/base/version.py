"""Which crisptree this is."""

from importlib.metadata import PackageNotFoundError, version


def crisptree_version() -> str:
    """The installed version, or `0+unknown` where the sources are used without an install."""
    try:
        return version("crisptree")
    except PackageNotFoundError:
        return "0+unknown"
