"""Everything in crisptree is imported under jaxtyping + beartype: shapes and types are checked.

What tests compile runs for milliseconds, so it is hardly optimised: that halves the suite.
Processes that tests start are a user's, and compile as theirs do.
"""

import os
import signal

import jax
from hypothesis import settings
from jaxtyping import install_import_hook

UNOPTIMISED = ["--xla_backend_optimization_level=0"]
if jax.__version_info__ < (0, 11):  # later ones do not know it, and end at what they do not know
    UNOPTIMISED += ["--xla_cpu_use_fusion_emitters=false"]
given = os.environ.get("XLA_FLAGS")
os.environ["XLA_FLAGS"] = " ".join([given or "", *UNOPTIMISED])
jax.devices()  # XLA reads its flags now, and never again
if given is None:
    del os.environ["XLA_FLAGS"]
else:
    os.environ["XLA_FLAGS"] = given

install_import_hook("crisptree", "beartype.beartype")

# Random cases: the same few each time; `make thorough` tries many. No deadline: the first call of
# a type-checked function is slow, and a shared machine slower.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background of a script, Ctrl-C is ignored, by all processes that tests start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
