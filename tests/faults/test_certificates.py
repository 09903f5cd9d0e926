"""Damaged certificates: checked and rejected, or refused in one line."""

import json
from pathlib import Path
from random import Random

import pytest
from command_line import command, fault
from damage import damaged

from crisptree.verify.certificate import digest

KIND = "damaged certificates"
PROVED = Path(__file__).parents[2] / "policies" / "proved"
NAME = "single-pendulum-tree-6"
FILES = 150

pytestmark = pytest.mark.faults


def with_its_digest(content: bytes) -> bytes:
    """As somebody would change a file who knows about the digest at its end."""
    try:
        changed = json.loads(content)
        changed["sha256"] = digest(changed)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return content
    return json.dumps(changed).encode()


def test_damaged(cases, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evilmod.py").write_text("open('imported', 'w').close()")
    whole, failures = (PROVED / f"{NAME}.certificate.json").read_bytes(), []
    for number in range(FILES):
        rng = Random(number)
        content = damaged(whole, rng)
        content = with_its_digest(content) if number % 2 else content
        Path("c.json").write_bytes(content)
        said = command("verify", str(PROVED / f"{NAME}.json"), "--check", "c.json")
        if why := fault(said):
            failures.append((number, why))
    assert not Path("imported").exists()
    cases(FILES, failures)
