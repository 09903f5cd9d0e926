import subprocess
import sys
import threading
import time

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.run_directory import RunDirectory, plain, read_metrics


def test_a_used_directory_is_refused(tmp_path):
    RunDirectory.create(tmp_path / "run").write_json("config.json", {})
    with pytest.raises(CrisptreeError, match="--resume to continue"):
        RunDirectory.create(tmp_path / "run")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(CrisptreeError, match=r"give another --out$"):
        RunDirectory.create(tmp_path / "other")


def test_nothing_to_resume(tmp_path):
    with pytest.raises(CrisptreeError, match="nothing to resume"):
        RunDirectory.existing(tmp_path)


@pytest.mark.parametrize("text", ["[1, 2]", "{", "3", "[" * 100_000, "\udcff"])
def test_a_damaged_file_is_named_in_one_line(tmp_path, text):
    (tmp_path / "checkpoint.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CrisptreeError, match=r"checkpoint\.json") as refused:
        RunDirectory(tmp_path).read_json("checkpoint.json")
    assert "\n" not in str(refused.value)


def test_a_checked_file_comes_back_as_it_was(tmp_path):
    content = {"seconds": 1.5, "returns": [1.0, float("nan")], "states": None}
    directory = RunDirectory(tmp_path)
    directory.write_checked("result.json", content)
    assert directory.read_checked("result.json") == plain(content)
    assert directory.read_checked("other.json") is None


@pytest.mark.parametrize(
    ("old", "new"), [("1.5", "2.5"), ("1.5", "NaN"), ('"a"', '"b"'), ('"digest"', '"other"')]
)
def test_a_value_that_was_changed_is_noticed(tmp_path, old, new):
    directory = RunDirectory(tmp_path)
    directory.write_checked("result.json", {"seconds": 1.5, "name": "a"})
    path = tmp_path / "result.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(CrisptreeError, match=r"result\.json is damaged"):
        directory.read_checked("result.json")


def test_only_one_process_writes(tmp_path):
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from crisptree.pipeline.run_directory import RunDirectory\n"
        "with RunDirectory(Path(sys.argv[1])).locked():\n"
        "    print('has it', flush=True)\n    time.sleep(60)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    owner.stdout.readline()
    with (
        pytest.raises(CrisptreeError, match=f"being written by process {owner.pid}"),
        RunDirectory(tmp_path).locked(patience=0.1),
    ):
        pass
    owner.kill()
    owner.wait()
    owner.stdout.close()
    with RunDirectory(tmp_path).locked():
        """The lock went with its owner."""


def test_a_lock_on_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from crisptree.base.errors import CrisptreeError\n"
        "from crisptree.pipeline.run_directory import RunDirectory\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "try:\n    with RunDirectory(Path(sys.argv[1])).locked():\n        pass\n"
        "except CrisptreeError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
    )
    assert done.stdout == f"cannot write {tmp_path}/.lock: File too large\n", done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["[1, 2]\n", "{\n", "[" * 100_000, "\udcff"])
def test_damaged_metrics_are_named_in_one_line(tmp_path, text):
    path = tmp_path / "metrics.jsonl"
    assert read_metrics(path) == []
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CrisptreeError, match=r"metrics\.jsonl") as refused:
        read_metrics(path)
    assert "\n" not in str(refused.value)


def test_a_lock_waits_for_an_owner_that_is_about_to_end(tmp_path):
    began = threading.Event()

    def hold():
        with RunDirectory(tmp_path).locked():
            began.set()
            time.sleep(0.3)

    holder = threading.Thread(target=hold)
    holder.start()
    began.wait()
    with RunDirectory(tmp_path).locked(patience=10.0):
        holder.join()


def test_metrics_can_be_cut_back(tmp_path):
    directory = RunDirectory(tmp_path)
    length = directory.append_metrics([{"step": 1, "return": float("nan")}])
    directory.append_metrics([{"step": 2}])
    directory.cut_metrics(length)
    assert (tmp_path / "metrics.jsonl").read_text() == '{"step": 1, "return": null}\n'


def test_json_never_holds_what_json_does_not_have():
    assert plain({"a": [float("inf"), 1.5], "b": (None, float("nan"))}) == {
        "a": [None, 1.5],
        "b": [None, None],
    }
