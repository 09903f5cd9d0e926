import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from kinds_of_tasks import DISCRETE

from crisptree.crisp import CrispTree
from crisptree.crispen.refine import SEGMENTS, Refined, Snapshot, anneal, polish
from crisptree.crispen.select import Selection
from crisptree.crispen.soften import soften
from crisptree.envs.task import task_of
from crisptree.learn import ppo
from crisptree.learn.config import PPOConfig
from crisptree.learn.moments import Moments
from crisptree.learn.stacks import stack
from crisptree.learn.trainer import Progress, Trainer

CONFIG = PPOConfig(n_envs=2, n_steps=8, n_minibatches=2, steepness=(2.0, 50.0))
PLAIN = Moments(jnp.zeros(3), jnp.ones(3), jnp.ones(()))
SIGNATURE = {"features": DISCRETE.features, "actions": DISCRETE.actions}
FIRST = CrispTree.from_nested((2, 0.25, 1, 0), **SIGNATURE)


def starts(n_updates: int, n_starts: int = 2):
    """Every start as the tree `FIRST`."""
    state = ppo.init(
        soften(FIRST, PLAIN), 3, CONFIG, n_updates, key=jax.random.key(0), observations=PLAIN
    )
    return stack([state] * n_starts)


MEANS = [-1.0, -1.25]


class Scripted(Trainer):
    """Learning that sets the threshold of start s after update u to u + s / 4; the mean of start s
    is at -1 - s / 4."""

    def __init__(self) -> None:
        super().__init__(DISCRETE, CONFIG)
        self.lengths: list[int] = []

    def learn(self, states, segment_length=16, *, between=None, is_late=lambda: False):
        while not bool(states.schedule.is_done.all()):
            n = min(segment_length or 16, int((states.n_updates - states.update)[0]))
            self.lengths.append(n)
            update = states.update + n
            moved = update[:, None] + jnp.arange(len(update), dtype=jnp.float32)[:, None] / 4
            states = eqx.tree_at(
                lambda s: (
                    s.schedule.update,
                    s.schedule.pace_sum,
                    s.actor.comparators,
                    s.average.comparators,
                ),
                states,
                (update, update.astype(jnp.float32), moved, update[:, None] - moved - 1),
            )
            share = float(states.progress.min())
            yield Progress(states, int(update[0]), {}, share, 16, True)
            if is_late():
                return


class ByThreshold:
    """Prefers the tree whose threshold is nearest to what it wants."""

    def __init__(self, wanted: float) -> None:
        self.wanted = wanted
        self.raced: list[float] = []

    def race(self, trees, rounds):
        self.raced = [float(tree.threshold[0]) for tree in trees]
        scores = [-abs(threshold - self.wanted) for threshold in self.raced]
        return int(np.argmax(scores)), max(scores)


def annealed(selection: ByThreshold, n_updates: int, **options) -> tuple[Refined, Scripted]:
    trainer = Scripted()
    return anneal(starts(n_updates), trainer, DISCRETE, selection, **options), trainer


def test_snapshots_are_of_the_last_third_of_every_start():
    selection = ByThreshold(0)
    _, trainer = annealed(selection, 48)
    assert trainer.lengths == [2] * SEGMENTS
    expected = [update + start / 4 for update in range(32, 49, 2) for start in (0, 1)]
    assert sorted(selection.raced) == [-1.25, -1, *expected]


@pytest.mark.parametrize(("n_updates", "raced"), [(1, [1, 1.25]), (3, [2, 2.25, 3, 3.25])])
def test_a_short_training_has_snapshots_too(n_updates, raced):
    selection = ByThreshold(0)
    _, trainer = annealed(selection, n_updates)
    assert trainer.lengths == [1] * n_updates
    assert sorted(selection.raced) == [-1.25, -1, *raced]


def test_the_best_snapshot_is_kept_with_its_start():
    refined, _ = annealed(ByThreshold(42.3), 48)
    assert refined.tree.threshold[0] == 42.25
    assert refined.tree.feature[0] == 2
    assert refined.start == 1
    assert refined.selection_return == pytest.approx(-0.05)
    assert refined.updates == 48
    # the learner is that of the end, of the same start
    assert refined.state.actor.comparators.tolist() == [48.25]
    assert int(refined.state.update) == 48


def test_what_came_in_stays_if_nothing_better_comes():
    selection = ByThreshold(0.3)
    refined, _ = annealed(selection, 3, started_from=Snapshot(FIRST, 0))
    assert refined.tree is FIRST
    assert refined.start == 0
    assert len(selection.raced) == 7


def test_the_tree_it_started_from_runs_first_then_the_last_ones():
    selection = ByThreshold(0)
    annealed(selection, 3, started_from=Snapshot(FIRST, 0))
    assert selection.raced == [float(FIRST.threshold[0]), *MEANS, 3.25, 3, 2.25, 2]


def test_what_wins_by_luck_does_not_replace_what_came_in():
    class Lucky(ByThreshold):
        """The second tree wins where there are many, and the first where there are two."""

        def race(self, trees, rounds):
            super().race(trees, rounds)
            return (1, 9.0) if len(trees) > 2 else (0, 5.0)

    selection = Lucky(0)
    refined, _ = annealed(selection, 3, started_from=Snapshot(FIRST, 0))
    assert refined.tree is FIRST and refined.selection_return == 5.0
    assert selection.raced == [float(FIRST.threshold[0]), MEANS[0]]


def test_every_segment_is_reported_with_the_snapshots_so_far():
    told = []
    annealed(
        ByThreshold(0),
        3,
        started_from=Snapshot(FIRST, 1),
        on_segment=lambda progress, snapshots: told.append((progress.update, len(snapshots))),
    )
    assert told == [(1, 0), (2, 2), (3, 4)]


def test_going_on_from_the_middle_ends_the_same():
    """With the states and snapshots of a segment, as they are found in a checkpoint."""
    kept = []
    whole, _ = annealed(
        ByThreshold(5.0),
        6,
        on_segment=lambda progress, snapshots: kept.append((progress.states, list(snapshots))),
    )
    middle, snapshots = kept[4]
    selection = ByThreshold(5.0)
    resumed = anneal(middle, Scripted(), DISCRETE, selection, earlier=snapshots)
    assert resumed.tree == whole.tree
    assert resumed[2:] == whole[2:]
    # In the same order, too: of equals, the earlier one wins.
    assert selection.raced == [*MEANS, 6.25, 6, 5.25, 5, 4.25, 4]


def test_a_training_that_was_stopped_at_its_end_is_judged_by_its_snapshots():
    kept = []
    annealed(ByThreshold(0), 3, on_segment=lambda progress, snapshots: kept.append(progress.states))
    selection = ByThreshold(0)
    refined = anneal(kept[-1], Scripted(), DISCRETE, selection, started_from=Snapshot(FIRST, 1))
    assert (refined.tree, refined.start) == (FIRST, 1)


def test_when_time_is_up_what_there_is_is_read_off():
    selection = ByThreshold(2.0)
    refined, trainer = annealed(selection, 48, is_late=lambda: True)
    assert trainer.lengths == [2]
    assert sorted(selection.raced) == [-1.25, -1, 2, 2.25]
    assert (refined.tree.threshold[0], refined.updates) == (2, 2)


def test_a_tree_learns_and_turns_crisp():
    """CartPole, a small tree, for real; the segments are those of the trainer."""
    task = task_of("CartPole-v1")
    config = PPOConfig(
        n_envs=16, n_steps=32, n_minibatches=4, steepness=(8.0, 40.0), plateau_speedup=1.0
    )
    tree = CrispTree.from_nested((3, 0.3, 1, 0), **task.signature)
    moments = Moments(jnp.zeros(4), jnp.ones(4), jnp.ones(()))
    state = ppo.init(
        soften(tree, moments), 4, config, 6, key=jax.random.key(0), observations=moments
    )
    selection = ByThreshold(0.3)
    with Trainer(task, config) as trainer:
        refined = anneal(stack([state]), trainer, task, selection)
    assert len(selection.raced) == 4
    assert refined.tree.env_id == "CartPole-v1"
    assert refined.tree.threshold[0] != tree.threshold[0]
    assert refined.updates == 6


class Earns(Selection):
    """Trees with a threshold below `least` earn 1 in every episode, the others 0."""

    def __init__(self, least: float) -> None:
        super().__init__(DISCRETE, 0)
        self.least = least

    def returns(self, trees, episodes, least=2, most=None):
        earned = [float(tree.threshold[0] < self.least) for tree in trees]
        return np.repeat(np.array(earned)[:, None], episodes, 1)


@pytest.mark.parametrize(("least", "threshold"), [(0.0, -1.0), (-2.0, 0.25), (9.0, 0.25)])
def test_a_polished_tree_is_the_mean_of_its_training_if_that_earns_more(least, threshold):
    told = []
    refined = polish(
        starts(4, 1),
        Scripted(),
        DISCRETE,
        Earns(least),
        FIRST,
        on_segment=lambda progress, snapshots: told.append(progress.update),
    )
    assert refined.tree.threshold[0] == threshold
    assert refined.selection_return == float(threshold < least)
    assert (refined.tree is FIRST) == (threshold == 0.25)
    assert told[-1] == refined.updates == 4
