"""Proofs and counterexamples about a crisp tree. Needs z3 (`pip install 'crisptree[verify]'`)."""

from crisptree.verify.answer import Answer as Answer
from crisptree.verify.verify import verify as verify
