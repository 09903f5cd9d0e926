import time

import gymnasium
import numpy as np
import pytest
from cartpole_trees import CLUMSY, GOOD, LEFT, RIGHT, TASK, cartpole
from hypothesis import given
from hypothesis import strategies as st

from crisptree.crisp import CrispTree
from crisptree.crispen import pace, select
from crisptree.crispen.pace import Pace, Timetable
from crisptree.crispen.select import Selection
from crisptree.envs.play import Rollouts
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import task_of
from crisptree.learn.exact_model import exact_model


def played(returns, lengths=None, was_cut=None) -> Rollouts:
    """What a rollout says; all episodes are over unless said."""
    array = np.array(returns, float)
    lengths = np.full(array.shape, 9) if lengths is None else np.array(lengths)
    cut = np.zeros(array.shape, bool) if was_cut is None else np.array(was_cut, bool)
    return Rollouts(array, lengths, ~cut, cut)


class Recorder(Selection):
    """Remembers the seeds of all episodes."""

    def __init__(self, seed: int) -> None:
        super().__init__(TASK, seed)
        self.blocks: list[range] = []

    def returns(self, trees, episodes, least=2, most=None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(select, "rollout", self._record)
            return super().returns(trees, episodes)

    def _record(self, trees, task, seeds, fast, deadline):
        assert fast and deadline == np.inf
        self.blocks.append(seeds)
        return played([[0.0] * len(seeds)] * len(trees))


@given(st.integers(0, 2**48), st.integers(0, 2**32), st.integers(2, 1000))
def test_what_selects_never_scores(seed, reported, episodes):
    """Whatever the seeds of the two, no episode that selects is ever one that is reported."""
    selection = Recorder(seed)
    for _ in range(3):
        selection.returns([GOOD, CLUMSY], episodes)
    scored = episode_seeds("reporting", reported, 500)
    for block in selection.blocks:
        assert len(block) == episodes
        assert not set(block) & set(scored)
        assert block.start >= 2**29
        assert block.stop <= 2**30 <= min(scored)


def test_every_call_sees_fresh_episodes():
    selection = Recorder(3)
    for _ in range(20):
        selection.returns([GOOD, CLUMSY], 16)
    assert len({block.start for block in selection.blocks}) == 20
    again, other = Recorder(3), Recorder(4)
    again.returns([GOOD], 16)
    other.returns([GOOD], 16)
    assert again.blocks[0] == selection.blocks[0] != other.blocks[0]


def test_the_scale_makes_episodes_few_or_many():
    assert [Selection(TASK, 0, scale).scaled(100) for scale in (0.001, 0.5, 3.0)] == [2, 50, 300]


@pytest.mark.parametrize(("env_id", "best"), [("CartPole-v1", 500), ("CartPole-v0", 200)])
def test_returns_are_those_of_the_environment(env_id, best):
    """One that has a twin in JAX, one that gymnasium plays."""
    good, clumsy = Selection(task_of(env_id), 0).returns([GOOD, CLUMSY], 8)
    assert good.tolist() == [best] * 8
    assert clumsy.shape == (8,)
    assert clumsy.max() < best


def test_a_race_finds_the_good_tree():
    trees = [cartpole(LEFT), CLUMSY, cartpole(RIGHT), GOOD, cartpole((0, 0.0, LEFT, RIGHT))]
    assert Selection(TASK, 1).race(trees, (8, 16)) == (3, 500.0)
    assert Selection(TASK, 1).race([CLUMSY], (8,))[0] == 0


def planted(*worths: float) -> list[CrispTree]:
    return [CrispTree.leaf(0, ["x"], ["a"], training={"worth": worth}) for worth in worths]


class Planted(Selection):
    """A tree earns what is written in it, met with noise."""

    def __init__(self) -> None:
        super().__init__(TASK, 0)
        self.calls: list[tuple[set[float], int]] = []
        self.earned: dict[float, list[float]] = {}

    def returns(self, trees, episodes, least=2, most=None):
        worths = [tree.training["worth"] for tree in trees]
        self.calls.append((set(worths), episodes))
        noise = np.random.default_rng(len(self.calls)).normal(0, 2, (len(trees), episodes))
        played = [worth + row for worth, row in zip(worths, noise, strict=True)]
        for worth, row in zip(worths, played, strict=True):
            self.earned.setdefault(worth, []).extend(row)
        return np.stack(played)


@pytest.mark.parametrize("best", [0, 5, 11])
def test_a_race_picks_the_planted_best(best):
    worths = [float(i) / 2 for i in range(12)]
    worths[best] = 9.0
    selection = Planted()
    index, score = selection.race(planted(*worths), (16, 32, 64))
    assert index == best
    assert score == pytest.approx(np.mean(selection.earned[9.0]))
    assert len(selection.earned[9.0]) == 16 + 32 + 64
    # a third goes on, rounded up
    assert [(len(trees), episodes) for trees, episodes in selection.calls] == [
        (12, 16),
        (4, 32),
        (2, 64),
    ]


def test_those_that_go_on_are_the_best_so_far():
    selection = Planted()
    selection.race(planted(0.0, 30.0, 10.0, 40.0, 20.0), (400, 400), 0.5)
    assert selection.calls[1] == ({40.0, 30.0, 20.0}, 400)


def test_everyone_may_stay():
    selection = Planted()
    assert selection.race(planted(1.0, 3.0, 2.0), (64, 64), 1.0)[0] == 1
    assert [len(worths) for worths, _ in selection.calls] == [3, 3]


def test_of_equals_the_first_wins():
    assert Selection(TASK, 0).race([GOOD, GOOD, GOOD], (4,))[0] == 0


def test_finalists_are_those_of_the_last_round_the_best_first():
    finalists = Selection(TASK, 3).finalists([CLUMSY, GOOD, CLUMSY, GOOD], (8, 16), 1 / 2)
    assert [index for index, _ in finalists] == [1, 3]
    assert [score for _, score in finalists] == [500.0, 500.0]


def test_an_environment_that_carries_its_model_is_not_played():
    task = task_of("CliffWalking-v1")
    selection = Selection(task, 0, model=exact_model(task))
    up = CrispTree.from_nested(0, **task.signature)
    returns = selection.returns([up, up], 512)
    assert returns.tolist() == [[-1000.0], [-1000.0]]  # it never arrives


@pytest.mark.parametrize(
    ("lengths", "was_cut", "compared"),
    [
        ([[9, 9], [9, 9]], [[0, 0], [0, 0]], [[1, 2], [3, 4]]),
        ([[9, 5], [9, 9]], [[0, 1], [0, 0]], [[1], [3]]),  # only what both had time for
        ([[5, 5], [5, 5]], [[1, 1], [1, 1]], [[1, 2], [3, 4]]),  # equally long for all
        ([[5, 5], [5, 0]], [[1, 1], [1, 1]], [[0, 0], [0, 0]]),  # nothing can be told
        ([[500, 9], [9, 9]], [[1, 0], [0, 0]], [[1, 2], [3, 4]]),  # cut at the limit of steps
    ],
)
def test_where_the_time_is_up_only_like_is_compared_with_like(
    monkeypatch, lengths, was_cut, compared
):
    found = played([[1, 2], [3, 4]], lengths, was_cut)
    monkeypatch.setattr(select, "rollout", lambda *_, **__: found)
    assert Selection(TASK, 0, times=Timetable(0.0)).returns([GOOD, CLUMSY], 2).tolist() == compared


def test_what_begins_too_late_is_over_soon():
    """Ten thousand steps of a slow environment, were it not for the end."""
    slow = task_of(SlowForEver)
    tree = CrispTree.from_nested(0, features=slow.features, actions=slow.actions)
    began = time.monotonic()
    Selection(slow, 0, times=Timetable(began)).returns([tree], 2)
    assert time.monotonic() - began < 10


class SlowForEver(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        time.sleep(0.05)
        return np.zeros(1, np.float32), 1.0, False, False, {}


def test_where_time_ends_a_few_whole_episodes_are_played(monkeypatch):
    """Of many episodes those that end first would mislead: a good tree's last longest."""
    task = task_of("Acrobot-v1")
    still = CrispTree.from_nested(1, **task.signature)
    monkeypatch.setattr(pace, "GRACE", 60.0)  # however busy the machine is
    selection = Selection(task, 0, times=Timetable(time.monotonic()))
    returns = selection.returns([still], 512)
    assert returns.shape == (1, select.FEW) and (returns == -500).all()


def test_slow_episodes_are_fewer_and_only_the_first_trees_run():
    """Ten seconds for episodes of four seconds each."""
    task = task_of("CartPole-v0")
    pace = Pace(steps_per_second=50.0, episode_length=200.0)
    times = Timetable(end=time.monotonic() + 10)
    selection = Selection(task, 0, times=times, pace=pace)
    assert selection.affords(1, 2)
    assert not selection.affords(2, 2)
    assert selection.race([CLUMSY, CLUMSY, GOOD, GOOD], (2,))[0] < 2
    # They did not take so long after all.
    assert selection.affords(4, 16)
    assert selection.returns([GOOD], 16).shape == (1, 16)


def test_who_waits_is_measured_by_many_at_once():
    few, many = played([[1]], [[100]], [[0]]), played([[1] * 64], [[100] * 64], [[0] * 64])
    waiting, computing = Pace(waits=True), Pace()
    for each in (waiting, computing):
        each.note(many, 5.0, is_whole=True)
        each.note(few, 5.0, is_whole=True)
    assert waiting.seconds(64) == pytest.approx(5.0)
    assert computing.seconds(64) > 9
    computing.note(few, 5.0, is_whole=False)
    assert computing.episode_length == 200


def test_careful_choices_have_a_stream_of_their_own_that_shrinks_more_slowly():
    few = Selection(TASK, 3, scale=0.04)
    careful = few.careful()
    assert (few.scaled(100), careful.scaled(100)) == (4, 20)
    assert few.careful() is careful
    recorder = Recorder(3)
    recorder.returns([GOOD], 8)
    recorder.careful().returns([GOOD], 8)
    ours, theirs = recorder.blocks
    assert not set(ours) & set(theirs)


def test_who_is_ahead_of_a_tree():
    leads = Selection(TASK, 3).ahead(CLUMSY, [CLUMSY, GOOD, CLUMSY, GOOD], (4, 4, 8))
    assert [lead.which for lead in leads] == [1, 3]
    assert leads[0].gain > 4 * leads[0].doubt
    assert Selection(TASK, 3).ahead(GOOD, [CLUMSY, GOOD], (4, 4, 8)) == []


def test_what_is_clear_needs_no_more_episodes(monkeypatch):
    """After three rounds, one that is far ahead has won; what is in doubt is played to the end."""
    asked = []

    def returns(self, trees, episodes):
        asked.append((len(trees), episodes))
        noise = np.random.default_rng(len(asked)).normal(size=(len(trees), episodes))
        return gap * np.arange(len(trees))[:, None] + noise

    monkeypatch.setattr(Selection, "returns", returns)
    rounds = (8, 8, 16, 32)
    gap = 10.0
    Selection(TASK, 0).ahead(GOOD, [GOOD] * 8, rounds)
    assert asked == [(9, 8), (5, 8), (3, 16)]
    gap = 0.0
    asked.clear()
    Selection(TASK, 0).ahead(GOOD, [GOOD] * 8, rounds)
    assert asked[-1] == (3, 32)


class Played(Selection):
    """Two trees whose returns are given, round by round."""

    def __init__(self, *rounds) -> None:
        super().__init__(TASK, 0)
        self.rounds, self.asked = list(rounds), []

    def returns(self, trees, episodes, least=2, most=None):
        self.asked.append(episodes)
        return np.array(self.rounds.pop(0), float)


def test_a_tree_that_falls_behind_plays_no_further_round():
    selection = Played([[1, 1], [2, 2]], [[5, 5], [1, 1]])
    assert selection.beats(GOOD, GOOD, (8, 8, 16)) == (False, 3.0)
    assert selection.asked == [8, 8]


def test_a_tree_that_stays_ahead_wins():
    selection = Played([[1, 2], [2, 4]], [[1, 2], [3, 3]])
    assert selection.beats(GOOD, GOOD, (8, 8)) == (True, 3.0)


def test_a_lead_that_may_well_be_luck_does_not_count():
    """Ahead by 0.5 on average, with a standard error above 1."""
    selection = Played([[0, 10, 0, 10], [4, 8, 8, 2]])
    assert selection.beats(GOOD, GOOD, (4,)) == (False, 5.0)
