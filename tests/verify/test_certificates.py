"""Certificates: those that come with crisptree, and others that are worth nothing."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loops import FILLING, TANK

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify import certificate, check_certificate
from crisptree.verify.cells import Cover
from crisptree.verify.checker import check
from crisptree.verify.claims import Judge, loop_of
from crisptree.verify.closed_loop import claim_of
from crisptree.verify.language import parse
from crisptree.verify.plants.classic import CART_POLE
from crisptree.verify.properties import InTheLoop
from crisptree.verify.prove import attempts
from crisptree.verify.reach import Attempt
from crisptree.verify.recheck import recheck
from crisptree.verify.simulate import Nature, starts, states

POLICIES = Path(__file__).parents[2] / "policies" / "proved"
QUICK = ["mountaincar-tree-2", "single-pendulum-tree-6"]
QUESTION = "from 0.45 <= level <= 0.55 stays 0.43 <= level <= 0.57 for ever"


@pytest.fixture(scope="module")
def proof():
    asked = parse(QUESTION, FILLING, TANK)
    assert isinstance(asked, InTheLoop)
    claim = claim_of(asked, TANK)
    *_, found = attempts(loop_of(FILLING, TANK, claim), Judge(TANK, claim), np.inf)
    assert found.is_proof
    return claim, found


def written(claim, attempt: Attempt, tree=FILLING, plant=TANK):
    return certificate.certificate(tree, plant, claim, QUESTION, attempt, made={})


def signed(content):
    return {**content, "sha256": certificate.digest(content)}


@pytest.mark.parametrize("name", QUICK)
def test_what_comes_with_crisptree_is_proved(name):
    tree = CrispTree.load(POLICIES / f"{name}.json")
    verdict = check_certificate(POLICIES / f"{name}.certificate.json", tree)
    assert verdict.holds and tree.simplify().n_leaves <= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["cartpole-tree-8", "pendulum-tree-3", "cruise-control-tree-4", "acrobot-tree-3"]
)
def test_what_comes_with_crisptree_is_proved_in_seconds(name):
    tree = CrispTree.load(POLICIES / f"{name}.json")
    assert check_certificate(POLICIES / f"{name}.certificate.json", tree).holds


@pytest.mark.slow
def test_none_of_100_000_adversarial_starts_falls():
    """Corners, faces and the inside of CartPole's reset box, in the plant, which equals gymnasium's
    environment float by float."""
    tree = CrispTree.load(POLICIES / "cartpole-tree-8.json")
    asked = parse("from reset stays up for 500 steps", tree, CART_POLE)
    assert isinstance(asked, InTheLoop)
    claim = claim_of(asked, CART_POLE)
    loop, rng = loop_of(tree, CART_POLE, claim), np.random.default_rng(0)
    limits = CART_POLE.box(CART_POLE.limits)
    for _ in range(10):
        begun = starts(loop, claim, 10_000, rng)
        for now in states(loop, begun, Nature(np.zeros((500, 10_000, 0)))):
            assert ((limits[:, 0] <= now) & (now <= limits[:, 1])).all()


def test_100_of_100_that_were_tampered_with_are_rejected(proof):
    claim, found = proof
    honest = written(claim, found)
    assert recheck(honest, FILLING, TANK).holds
    rng = np.random.default_rng(0)
    rejected = 0
    for trial in range(100):
        wrong = [_without_a_box, _narrower, _another_word, _another_digit][trial % 4]
        rejected += not recheck(wrong(claim, found, honest, rng), FILLING, TANK).holds
    assert rejected == 100


def _without_a_box(claim, found, honest, rng):
    """Signed anew, but a box of the invariant is missing."""
    cover = found.layers[-1]
    rest = np.delete(np.arange(len(cover)), _some_box(cover, rng))
    return written(claim, replace(found, layers=[*found.layers[:-1], cover.take(rest)]))


def _narrower(claim, found, honest, rng):
    """Signed anew, but a box of the invariant is only half as wide."""
    cover = found.layers[-1]
    low, high = cover.low.copy(), cover.high.copy()
    row = _some_box(cover, rng)
    low[row], high[row] = (3 * low[row] + high[row]) / 4, (low[row] + 3 * high[row]) / 4
    narrow = Cover(cover.keys, low, high)
    return written(claim, replace(found, layers=[*found.layers[:-1], narrow]))


def _some_box(cover, rng):
    """One that is no mere edge of its neighbour."""
    wide = (cover.high - cover.low).min(axis=1) > 1e-3
    return rng.choice(np.flatnonzero(wide))


def _another_word(claim, found, honest, rng):
    """Signed anew, but about something else."""
    changes = [
        {"property": QUESTION.replace("0.43", "0.44")},
        {"claim": {**honest["claim"], "start": [[0.0, 1.0], [0.03, 0.03]]}},
        {"claim": {**honest["claim"], "steps": 5}},
        {"proof": {**honest["proof"], "closes": False}},
        {"plant": {**honest["plant"], "name": "CartPole"}},
        {"policy": {**honest["policy"], "sha256": "0" * 64}},
        {"proof": {**honest["proof"], "layers": []}},
    ]
    return signed({**honest, **changes[rng.integers(len(changes))]})


def _another_digit(claim, found, honest, rng):
    """A digit of the file changed, and not signed again."""
    text = json.dumps(honest)
    digits = [at for at, letter in enumerate(text) if letter.isdigit()]
    at = digits[rng.integers(len(digits))]
    changed = text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]
    return json.loads(changed)


def test_what_stays_somewhere_arrives_nowhere(proof):
    """An invariant is no proof that something else is reached."""
    _, found = proof
    question = "from 0.45 <= level <= 0.55 reaches level >= 1.5 within 20 steps"
    asked = parse(question, FILLING, TANK)
    assert isinstance(asked, InTheLoop)
    wrong = {**written(claim_of(asked, TANK), found), "property": question}
    verdict = recheck(signed(wrong), FILLING, TANK)
    assert not verdict.holds and verdict.reason == "a cover that leads into itself arrives nowhere"


def test_a_certificate_of_another_policy(proof):
    claim, found = proof
    other = replace(FILLING, threshold=np.array([0.501, 0.0, 0.0]))
    verdict = check(written(claim, found), other, TANK)
    assert not verdict.holds and verdict.reason == "it was made for another policy"


def test_a_plant_with_other_equations(proof):
    claim, found = proof

    def leaky(xp, state, action, disturbance):
        level, rate = TANK.step(xp, state, action, disturbance)
        return level * 0.999, rate

    verdict = check(written(claim, found), FILLING, replace(TANK, step=leaky))
    assert not verdict.holds and "equations differ" in verdict.reason


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "cannot read the certificate"),
        ("{}", "is no certificate of crisptree"),
        ('{"format": "crisptree.certificate", "version": 9}', "is a certificate of version 9"),
    ],
)
def test_files_that_are_no_certificates(tmp_path, content, message):
    path = tmp_path / "proof.json"
    path.write_text(content)
    with pytest.raises(CrisptreeError, match=message):
        check_certificate(path, FILLING)
