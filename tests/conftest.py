"""Everything in crisptree is imported under jaxtyping + beartype: shapes and types are checked.

What tests compile runs for milliseconds, so it is hardly optimised: that halves the suite. Processes
that tests start are a user's, and compile as theirs do.
"""

import os

UNOPTIMISED = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
given = os.environ.get("XLA_FLAGS")
os.environ["XLA_FLAGS"] = f"{given or ''} {UNOPTIMISED}"

import jax  # noqa: E402
from hypothesis import settings  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402

jax.devices()  # XLA reads its flags now, and never again
if given is None:
    del os.environ["XLA_FLAGS"]
else:
    os.environ["XLA_FLAGS"] = given

install_import_hook("crisptree", "beartype.beartype")

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
