"""Proofs and counterexamples about a crisp tree, alone or in charge of a plant."""

from crisptree.verify.answer import Answer as Answer
from crisptree.verify.plants import Plant as Plant
from crisptree.verify.verify import check as check
from crisptree.verify.verify import check_certificate as check_certificate
from crisptree.verify.verify import prove as prove
from crisptree.verify.verify import verify as verify
