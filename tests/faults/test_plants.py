"""Plants that misbehave: one line names them and says what they did, in proofs and in checks."""

import shutil
from pathlib import Path

import bad_plants
import pytest
from command_line import command, fault, strict_json

KIND = "plants that misbehave"
HERE = Path(__file__).parent
POLICY = str(HERE / "corpus" / "policies" / "tree.json")
ODD = ("prints", "not_a_number", "huge")
"""Plants that can be asked about."""
MODULES = {
    "exiting": "import sys; sys.exit(0)",
    "raising": "raise RuntimeError('first\\nsecond')",
    "unreadable": "def f(:",
}

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]  # NumPy's, of overflow


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> None:
    shutil.copy(HERE / "bad_plants.py", tmp_path)
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)


def asked(plant: str, *options: str):
    stays = ("--property", "from reset stays up for 3 steps", "--seconds", "2")
    return command("verify", POLICY, "--plant", plant, *stays, *options)


@pytest.mark.parametrize("name", [*bad_plants.BAD, "blind"])
def test_one_line(name):
    said = asked(f"bad_plants:{name}")
    assert fault(said, refused=True) is None
    assert f"the plant '{name if name != 'blind' else 'ok'}'" in said.err and said.out == ""


@pytest.mark.parametrize("name", ODD)
def test_an_answer_is_json(name):
    said = asked(f"bad_plants:{name}", "--json")
    assert said.code in (0, 1, 3) and isinstance(strict_json(said.out), dict)


@pytest.mark.parametrize("name", [*(f"{each}:X" for each in MODULES), "bad_plants:NO_PLANT", ":X"])
def test_what_is_no_plant(name):
    said = asked(name)
    assert fault(said, refused=True) is None and name in said.err
