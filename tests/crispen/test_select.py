import numpy as np
import pytest
from cartpole_trees import CLUMSY, GOOD, LEFT, RIGHT, cartpole
from hypothesis import given
from hypothesis import strategies as st

from crisptree.crisp import CrispTree
from crisptree.crispen import select
from crisptree.crispen.select import Selection
from crisptree.envs.registry import plays_in_rows
from crisptree.envs.score import play
from crisptree.envs.seeds import episode_seeds


@pytest.fixture(params=["CartPole-v1", "CartPole-v0"])
def env_id(request) -> str:
    """One that NumPy plays, one that gymnasium does."""
    assert plays_in_rows(request.param) == (request.param == "CartPole-v1")
    return request.param


class Recorder:
    """Plays nothing; remembers the seeds."""

    def __init__(self, monkeypatch) -> None:
        self.blocks: list[range] = []
        monkeypatch.setattr(select, "play_compiled", self.compiled)
        monkeypatch.setattr(select, "play_forest", self.hosted)

    def compiled(self, trees, env, first_seed, episodes):
        self.blocks.append(range(first_seed, first_seed + episodes))
        return np.zeros((len(trees), episodes))

    def hosted(self, trees, env_id, seeds, strict=False):
        return self.compiled(trees, None, seeds.start, len(seeds))


@given(
    st.integers(0, 2**48),
    st.integers(0, 2**32),
    st.integers(1, 1000),
    st.sampled_from(["CartPole-v0", "CartPole-v1", "crisptree/Wildfire-v0"]),
)
def test_what_selects_never_scores(seed, reported, episodes, env_id):
    """Whatever the seeds of the two, no episode that selects is ever one that is reported."""
    with pytest.MonkeyPatch.context() as patch:
        recorder = Recorder(patch)
        selection = Selection(env_id, seed)
        for moment in range(3):
            selection.returns([GOOD, CLUMSY], episodes)
            selection.flawless([GOOD, CLUMSY], moment, (episodes, episodes))
    scored = episode_seeds("reporting", reported, 500)
    # nobody earns anything, so the first round of the question is the last
    assert len(recorder.blocks) == (6 if env_id == "CartPole-v1" else 3)
    for block in recorder.blocks:
        assert len(block) == episodes
        assert not set(block) & set(scored)
        assert block.start >= 2**29
        assert block.stop <= 2**30 <= min(scored)


def test_every_call_sees_fresh_episodes_the_same_for_each_tree(env_id, monkeypatch):
    recorder = Recorder(monkeypatch)
    selection = Selection(env_id, 3)
    for _ in range(20):
        selection.returns([GOOD, CLUMSY], 16)
    assert len(recorder.blocks) == 20
    assert len({block.start for block in recorder.blocks}) == 20
    again = Recorder(monkeypatch)
    Selection(env_id, 3).returns([GOOD], 16)
    Selection(env_id, 4).returns([GOOD], 16)
    assert again.blocks[0] == recorder.blocks[0] != again.blocks[1]


def test_returns_are_those_of_the_environment(env_id):
    """500 steps there are in CartPole-v1, 200 in CartPole-v0."""
    best = {"CartPole-v1": 500, "CartPole-v0": 200}[env_id]
    good, clumsy = Selection(env_id, 0).returns([GOOD, CLUMSY], 8)
    assert good.tolist() == [best] * 8
    assert clumsy.shape == (8,)
    assert clumsy.max() < best


def test_a_race_finds_the_good_tree():
    trees = [cartpole(LEFT), CLUMSY, cartpole(RIGHT), GOOD, cartpole((0, 0.0, LEFT, RIGHT))]
    assert Selection("CartPole-v1", 1).race(trees, (8, 16)) == (3, 500.0)
    assert Selection("CartPole-v1", 1).race([CLUMSY], (8,))[0] == 0


def planted(*worths: float) -> list[CrispTree]:
    return [CrispTree.leaf(0, ["x"], ["a"], training={"worth": worth}) for worth in worths]


class Planted(Selection):
    """A tree earns what is written in it, met with noise."""

    def __init__(self) -> None:
        super().__init__("CartPole-v1", 0)
        self.calls: list[tuple[set[float], int]] = []
        self.earned: dict[float, list[float]] = {}

    def returns(self, trees, episodes):
        worths = [tree.training["worth"] for tree in trees]
        self.calls.append((set(worths), episodes))
        noise = np.random.default_rng(len(self.calls)).normal(0, 2, (len(trees), episodes))
        played = [worth + row for worth, row in zip(worths, noise, strict=True)]
        for worth, row in zip(worths, played, strict=True):
            self.earned.setdefault(worth, []).extend(row)
        return played


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
    assert Selection("CartPole-v1", 0).race([GOOD, GOOD, GOOD], (4,))[0] == 0


def test_finalists_are_those_of_the_last_round_the_best_first():
    finalists = Selection("CartPole-v1", 3).finalists([CLUMSY, GOOD, CLUMSY, GOOD], (8, 16), 1 / 2)
    assert [index for index, _ in finalists] == [1, 3]
    assert [score for _, score in finalists] == [500.0, 500.0]


def test_flawless_is_the_first_without_a_loss():
    selection = Selection("CartPole-v1", 3)
    assert selection.flawless([CLUMSY, GOOD, GOOD], 0, (4, 64)) == 1
    assert selection.flawless([CLUMSY], 0, (4, 64)) is None
    assert selection.flawless([], 0, (4, 64)) is None


def test_only_who_passed_a_round_plays_the_next(monkeypatch):
    played = []

    def forest(trees, env_id, seeds, strict):
        played.append((len(trees), len(seeds)))
        returns = np.full((len(trees), len(seeds)), 500.0)
        returns[-1, 0] = 499.0
        return returns

    monkeypatch.setattr(select, "play_forest", forest)
    assert Selection("CartPole-v1", 3).flawless([GOOD, GOOD, GOOD], 0, (4, 16)) == 0
    assert played == [(3, 4), (2, 16)]


def test_short_is_what_earns_less_than_the_greatest_return():
    selection = Selection("CartPole-v1", 3)
    seeds = selection.at(0, 16)
    short = selection.short([CLUMSY, GOOD], seeds)
    assert short[0].tolist() == (play(CLUMSY, "CartPole-v1", seeds) < 500).tolist()
    assert not short[1].any()
    assert selection.short([CLUMSY, GOOD], seeds, strict=True).any(1).tolist() == [True, False]
    assert Selection("CartPole-v0", 3).short([GOOD], seeds).all()  # nobody knows


def test_nobody_is_flawless_where_the_greatest_return_is_unknown(monkeypatch):
    recorder = Recorder(monkeypatch)
    assert Selection("CartPole-v0", 3).flawless([GOOD], 0, (4,)) is None
    assert not recorder.blocks


def test_a_moment_has_episodes_of_its_own_however_often_it_is_asked(monkeypatch):
    recorder = Recorder(monkeypatch)
    selection = Selection("CartPole-v1", 3)
    for moment in (0, 1, 1):
        selection.flawless([GOOD], moment, (16,))
        selection.returns([GOOD], 16)
    starts = [block.start for block in recorder.blocks]
    assert starts[2] == starts[4]
    assert len(set(starts)) == 5
