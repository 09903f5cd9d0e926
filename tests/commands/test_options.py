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
        ("study", "study needs one of {plan, serve"),
        ("train CartPole-v1 --leafs 3", "train has no option --leafs; did you mean --leaves?"),
        ("train CartPole-v1 --ppo.gama 0.9", "train has no option --ppo.gama; did you mean --ppo."),
        ("train CartPole-v1 --ppo.gamma x", "--ppo.gamma takes a number, not 'x'"),
        ("train CartPole-v1 --ppo.gamma 2", "ppo: gamma must be from 0 to 1"),
        ("evaluate p.json --episodes 2.5", "--episodes takes a whole number, not '2.5'"),
        ("show p.json --out", "--out needs a value"),
        ("show p.json q.json", "show does not know what to do with 'q.json'"),
        ("explain p.json --at one", "--at cannot be 'one'"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(given, line, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(given.split())
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith(f"crisptree: {line}")


def test_the_help_has_whole_sentences(capsys):
    """Lines of a docstring are joined before they are wrapped; what is empty is not a default."""
    with pytest.raises(SystemExit):
        cli.main(["explain", "--help"])
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "(default: )" not in words
    with pytest.raises(SystemExit):
        cli.main(["export", "--help"])
    lines = [line.strip("│| ") for line in capsys.readouterr().out.splitlines()]
    (at,) = (i for i, line in enumerate(lines) if line.startswith("What to write:"))
    assert all(len(line) > 40 for line in lines[at : at + 4])
