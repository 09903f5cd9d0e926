"""The workflows: well-formed, every action pinned to a commit, and the release signed."""

import re
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / ".github" / "workflows"


def steps(name: str) -> list[dict]:
    jobs = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.yml")))
def test_every_action_is_pinned_to_a_commit(name):
    used = [step["uses"] for step in steps(name) if "uses" in step]
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each) for each in used)


def test_the_release_is_built_twice_and_signed():
    (build,) = (step for step in steps("release.yml") if step.get("name") == "Build twice, compare")
    assert "diff -r dist again" in build["run"] and "SOURCE_DATE_EPOCH" in build["run"]
    (sign,) = (step for step in steps("release.yml") if step.get("name") == "Sign the provenance")
    assert sign["with"]["subject-path"] == "dist/*"
