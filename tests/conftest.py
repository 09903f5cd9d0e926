"""Everything in crisptree is imported under jaxtyping + beartype: shapes and types are checked."""

from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("crisptree", "beartype.beartype")

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
