"""Shells complete commands, options and file names."""

import shutil
import subprocess

import pytest

from crisptree import cli


def script(shell, capsys):
    cli.main(["completion", shell])
    return capsys.readouterr().out


def completed(bash, *words):
    """What bash offers for the last of the words."""
    ask = f"{bash}\nCOMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\n_crisptree\n"
    ask += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_and_options(capsys):
    bash = script("bash", capsys)
    assert completed(bash, "crisptree", "re") == ["report", "reproduce"]
    assert completed(bash, "crisptree", "show", "--dec") == ["--decimals"]
    assert "--leaves" in completed(bash, "crisptree", "train", "--")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_well_formed(shell, capsys):
    text = script(shell, capsys)
    assert "evaluate" in text and ("episodes" in text)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_another_shell_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["completion", "tcsh"])
    assert "bash" in capsys.readouterr().err
