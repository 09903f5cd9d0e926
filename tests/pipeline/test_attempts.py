import math
from dataclasses import replace

import pytest

from crisptree.crisp import CrispTree
from crisptree.pipeline import attempts, recipe
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.report import Silent
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.way import Arrived

SETTINGS = Settings("CartPole-v1", direct=True, starts=1)


def balancing(action_where_it_leans: int) -> CrispTree:
    """Push where the pole falls to (1), or away from it (0)."""
    return CrispTree.from_dict(
        {
            "format": "crisptree.policy",
            "version": 1,
            "tree": {
                "feature": [3, -1, -1],
                "threshold": [0.0, 0.0, 0.0],
                "if_true": [1, -1, -1],
                "if_false": [2, -1, -1],
                "action": [-1, action_where_it_leans, 1 - action_where_it_leans],
            },
            "feature_names": ["x", "v", "angle", "spin"],
            "action_names": ["left", "right"],
            "env_id": "CartPole-v1",
            "training": {},
        }
    )


@pytest.fixture
def ways(monkeypatch):
    """Ways that end as they are told: pairs of the best return on the way and the last one."""
    gone: list[tuple[int, RunDirectory]] = []

    def ending(*told: tuple[float, float]):
        class Way:
            def __init__(self, settings, seed, directory, tell):
                gone.append((seed, directory))

            def go(self) -> Arrived:
                best, last = told[len(gone) - 1]
                records = ({"stage": "a", "selection_return": best}, {"stage": "b"})
                return Arrived(balancing(int(last > 100)), last, records)

        monkeypatch.setattr(attempts, "Way", Way)
        monkeypatch.setattr(recipe, "CARTPOLE", replace(recipe.CARTPOLE, attempts=3))
        return gone

    return ending


def go(tmp_path, settings=SETTINGS):
    return attempts.go(settings, 0, RunDirectory(tmp_path), Silent())


def test_where_nobody_knows_what_can_be_earned_there_is_one_way(tmp_path, ways, monkeypatch):
    monkeypatch.setattr(attempts, "greatest_return", lambda env_id: math.inf)
    gone = ways((500.0, 90.0))
    every, best = go(tmp_path)
    assert len(every) == 1 and best == 0
    assert [directory.path for _, directory in gone] == [tmp_path]


def test_a_way_that_falls_short_is_gone_again_elsewhere(tmp_path, ways):
    gone = ways((500.0, 90.0), (500.0, 500.0))
    every, best = go(tmp_path)
    assert [arrived.selection_return for arrived in every] == [90.0, 500.0]
    assert best == 1  # by playing, not by what the ways say
    (one, _), (other, folder) = gone
    assert one != other and folder.path == tmp_path / "attempts" / "1"
    assert attempts.folder_of(RunDirectory(tmp_path), best).path == folder.path


def test_where_it_is_known_what_can_be_earned_nothing_less_will_do(tmp_path, ways):
    gone = ways((500.0, 499.9), (500.0, 500.0), (500.0, 500.0))
    assert len(go(tmp_path)[0]) == len(gone) == 2


def test_there_is_an_end_to_it(tmp_path, ways):
    gone = ways((500.0, 90.0), (500.0, 400.0), (500.0, 80.0))
    every, best = go(tmp_path)
    assert len(every) == len(gone) == 3 and best == 1


def test_who_counts_steps_gets_one_way(tmp_path, ways):
    ways((500.0, 90.0), (500.0, 500.0))
    assert len(go(tmp_path, replace(SETTINGS, steps=1000))[0]) == 1


def test_a_wrong_policy_is_told_from_a_right_one():
    """The fixture's trees differ as the tests above need them to."""
    from crisptree.envs.score import play

    wrong, right = (play(balancing(action), "CartPole-v1", range(20)).mean() for action in (0, 1))
    assert right > 5 * wrong
