"""How options look that may be left out."""

import importlib

import pytest

from crisptree import cli
from crisptree.commands.options import field_texts, options_of


@pytest.mark.parametrize("command", sorted(cli.COMMANDS))
def test_no_help_speaks_of_none(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    assert "None" not in capsys.readouterr().out


def test_they_are_named_by_their_kind(capsys):
    with pytest.raises(SystemExit):
        cli.main(["train", "--help"])
    shown = capsys.readouterr().out
    assert "--steps INT " in shown
    assert "--track {tensorboard,wandb}" in shown


@pytest.mark.parametrize(
    ("option", "value", "right"),
    [("--steps", "many", "a whole number"), ("--track", "mlflow", "tensorboard")],
)
def test_a_wrong_value_is_answered_in_a_line_that_says_what_would_be_right(
    option, value, right, capsys
):
    with pytest.raises(SystemExit) as stop:
        cli.main(["train", "CartPole-v1", option, value])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert value in said
    assert right in said
    assert "None" not in said


@pytest.mark.parametrize(
    "given, line",
    [
        ("export p.json", "export needs --to and --out FILE"),
        ("show", "show needs POLICY"),
        ("study", "study needs one of plan, serve"),
        ("train CartPole-v1 --leafs 3", "train has no option --leafs; did you mean --leaves?"),
        ("train CartPole-v1 --ppo.gama 0.9", "train has no option --ppo.gama; did you mean --ppo."),
        ("train CartPole-v1 --ppo.gamma x", "--ppo.gamma takes a number, not 'x'"),
        ("train CartPole-v1 --ppo.gamma 2", "ppo: gamma must be from 0 to 1"),
        ("evaluate p.json --episodes 2.5", "--episodes takes a whole number, not '2.5'"),
        ("show p.json --out", "--out needs a value"),
        ("show p.json q.json", "show does not know what to do with 'q.json'"),
        ("explain p.json --at one", "--at takes a number, not 'one'"),
        ("train CartPole-v1 --gamma 0.9", "train has no option --gamma; did you mean --ppo.gamma?"),
        ("train CartPole-v1 --table.first maybe", "--table.first takes True or False, not 'maybe'"),
        ("show p.json -x", "show has no option -x"),
        ("show p.json --no-replay=1", "--no-replay takes no value"),
        ("study pla", "study needs one of plan, serve"),
        ("study plan --rating-sd 1 2", "--rating-sd takes 3 values, not 2"),
        ("reproduce --domains mars", "--domains cannot be 'mars'; it may be cartpole, lunarlander"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(given, line, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(given.split())
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith(f"crisptree: {line}")


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("command", sorted(set(cli.COMMANDS) - {"study"}))
def test_the_help_fits_and_lists_every_option(command, width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    kind = importlib.import_module(f"crisptree.commands.{command}").Command
    for each in options_of(kind):
        if each.form.is_positional and not each.is_required:
            continue  # a word that is refused
        assert each.name in shown
        for word in field_texts(kind).get(each.path[-1], "").split():
            assert word in shown
    long = [line for line in shown.splitlines() if len(line) > width and not line.startswith("  -")]
    assert not long


def test_all_numbers_of_a_training_have_an_option(capsys):
    cli.main(["train", "--help-all"])
    shown = capsys.readouterr().out
    assert "--ppo.gamma FLOAT" in shown and "--env" not in shown
    assert "ppo: Proximal policy optimisation" in shown
