import shlex
from pathlib import Path

import pytest
import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.settings import Settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"leaves": 4, "rules": 3}, "--leaves and --rules exclude each other: give one"),
        ({"rules": 4, "mlp": 3}, "--rules and --mlp exclude each other: give one"),
        ({"leaves": 1}, "--leaves must be at least 2, not 1"),
        ({"rules": 0}, "--rules must be at least 1, not 0"),
        ({"mlp": -1}, "--mlp must be at least 0, not -1"),
        ({"steps": 0}, "--steps must be at least 1, not 0"),
        ({"starts": 0}, "--starts must be at least 1, not 0"),
        ({"starts": 64}, "--starts must be at most 63, not 64"),
        ({"seeds": 0}, "--seeds must be at least 1, not 0"),
        ({"episodes": 0}, "--episodes must be at least 1, not 0"),
        ({"seed": -1}, "--seed must lie in 0 … 4294967295, not -1"),
        ({"seed": 2**32}, "--seed must lie in 0 … 4294967295, not 4294967296"),
        ({"budget": 0.0}, "--budget must be above 0 minutes, not 0.0"),
        ({"budget": float("nan")}, "--budget must be above 0 minutes, not nan"),
        ({"budget": float("inf")}, "--budget must be above 0 minutes, not inf"),
        ({"budget": 5.0, "steps": 10}, "--budget and --steps exclude each other: give one"),
        ({"learning_rate": 0.0}, "--learning-rate must be above 0, not 0.0"),
        ({"learning_rate": float("nan")}, "--learning-rate must be above 0, not nan"),
        (
            {"teacher": "mlp", "start_from": Path("a")},
            "--teacher and --start-from exclude each other: give one",
        ),
        (
            {"paper": True, "teacher": "mlp"},
            "--paper starts from nothing: leave out --teacher, --start-from",
        ),
        (
            {"paper": True, "start_from": Path("a")},
            "--paper starts from nothing: leave out --teacher, --start-from",
        ),
        (
            {"direct": True, "teacher": "soft"},
            "--direct starts from nothing: leave out --teacher, --start-from",
        ),
    ],
)
def test_a_wrong_setting_is_refused_in_words(wrong, message):
    with pytest.raises(CrisptreeError) as error:
        Settings("CartPole-v1", **wrong)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "edge",
    [{"leaves": 2}, {"rules": 1}, {"mlp": 0}, {"seed": 2**32 - 1}, {"starts": 63}, {"episodes": 1}],
)
def test_the_last_ones_that_are_right(edge):
    Settings("CartPole-v1", **edge)


def test_shape_and_size():
    assert (Settings("E").shape, Settings("E").size) == ("tree", 16)
    assert (Settings("E", leaves=5).shape, Settings("E", leaves=5).size) == ("tree", 5)
    # a list of five rules has six leaves
    assert (Settings("E", rules=5).shape, Settings("E", rules=5).size) == ("list", 6)


EVERY = Settings(
    "CartPole-v1",
    rules=3,
    seed=4,
    seeds=2,
    steps=1000,
    start_from=Path("my rules/a.rules"),
    learning_rate=0.01,
    starts=3,
    episodes=7,
)
SOME = [
    Settings("CartPole-v1"),
    EVERY,
    Settings("module:Some-v0", leaves=8, teacher="a teacher.json", budget=2.5),
    Settings("CartPole-v1", leaves=4, paper=True, optimiser="rmsprop", feature_choice="signed"),
    Settings("CartPole-v1", mlp=0, algorithm="reinforce"),
    Settings("CartPole-v1", direct=True),
]


@pytest.mark.parametrize("settings", SOME)
def test_the_record_gives_the_same_settings(settings):
    assert Settings.from_dict(settings.to_dict()) == settings


@pytest.mark.parametrize("settings", SOME)
def test_the_command_asks_for_the_same(settings):
    """A shell and the command line's own parser read it back."""
    command = shlex.split(settings.command())
    assert command[:2] == ["crisptree", "train"]
    asked = tyro.cli(
        Settings,
        args=command[2:],
        config=(tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff),
    )
    assert asked == settings


def test_the_command_says_only_what_was_asked():
    assert Settings("CartPole-v1").command() == "crisptree train CartPole-v1"
    assert EVERY.command() == (
        "crisptree train CartPole-v1 --rules 3 --seed 4 --seeds 2 --steps 1000 "
        "--start-from 'my rules/a.rules' --learning-rate 0.01 --starts 3 --episodes 7"
    )
    paper = Settings("CartPole-v1", paper=True)
    assert paper.command() == "crisptree train CartPole-v1 --paper"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"env": "E", "colour": "red"}, "config.json has unknown settings: colour"),
        ({}, "config.json is not that of a run: "),
        ({"env": "E", "leaves": "many"}, "config.json is not that of a run: "),
        ({"env": "E", "leaves": 1}, "--leaves must be at least 2, not 1"),
    ],
)
def test_an_edited_record_is_refused(record, message):
    with pytest.raises(CrisptreeError, match=message):
        Settings.from_dict(record)
