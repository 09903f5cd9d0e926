"""How options look that may be left out."""

import pytest

from crisptree import cli


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
    [("--steps", "many", "INT"), ("--track", "mlflow", "tensorboard")],
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
