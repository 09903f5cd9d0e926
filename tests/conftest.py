"""Everything in crisptree is imported under jaxtyping + beartype: shapes and types are checked."""

from jaxtyping import install_import_hook

install_import_hook("crisptree", "beartype.beartype")
