import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cartpole_trees import CLUMSY, GOOD, SPIN, TASK
from crisptree.learn.agent import Agent
from crisptree.learn.creation import beginning_with

from crisptree.crispen.refine import SEGMENTS, Refined, Snapshot, anneal
from crisptree.crispen.select import Selection
from crisptree.crispen.soften import soften
from crisptree.learn.config import Learning
from crisptree.learn.moments import Moments

CONFIG = Learning(n_envs=2, n_steps=8, minibatches=2, steepness=(2.0, 50.0))
PLAIN = Moments(jnp.zeros(4), jnp.ones(4), jnp.ones(()))


def agents(n_updates: int, n_starts: int = 2) -> Agent:
    """Every start as the list 'if spin > 0.3 then push right, otherwise push left'."""
    actors = [soften(CLUMSY, PLAIN)] * n_starts
    key = jax.random.key(0)
    return beginning_with(actors, 4, CONFIG, n_updates, key=key, observations=PLAIN).agents()


class Scripted:
    """Learning that sets the threshold of start s after update u to u + s / 4."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def __call__(self, agents: Agent, n: int):
        self.lengths.append(n)
        update = agents.update + n
        comparators = update[:, None] + jnp.arange(len(update), dtype=jnp.float32)[:, None] / 4
        agents = eqx.tree_at(
            lambda a: (a.update, a.actor.comparators), agents, (update, comparators)
        )
        zeros = np.zeros((n, len(update)))
        return agents, {"policy_loss": zeros, "value_loss": zeros, "return": zeros}


class ByThreshold(Selection):
    """Prefers the tree whose threshold is nearest to what it wants."""

    def __init__(self, wanted: float) -> None:
        super().__init__("CartPole-v1", 0)
        self.wanted = wanted
        self.raced: list[float] = []

    def returns(self, trees, episodes):
        thresholds = [float(tree.threshold[0]) for tree in trees]
        self.raced = self.raced or thresholds
        return [np.full(episodes, -abs(threshold - self.wanted)) for threshold in thresholds]


def annealed(selection: Selection, n_updates: int, **options) -> tuple[Refined, Scripted]:
    segment = Scripted()
    return anneal(agents(n_updates), TASK, segment, selection, **options), segment


def test_snapshots_are_of_the_last_third_of_every_start():
    selection = ByThreshold(0)
    _, segment = annealed(selection, 48)
    assert segment.lengths == [2] * SEGMENTS
    expected = [update + start / 4 for update in range(32, 49, 2) for start in (0, 1)]
    assert selection.raced == expected


@pytest.mark.parametrize(("n_updates", "raced"), [(1, [1, 1.25]), (3, [2, 2.25, 3, 3.25])])
def test_a_short_training_has_snapshots_too(n_updates, raced):
    selection = ByThreshold(0)
    _, segment = annealed(selection, n_updates)
    assert segment.lengths == [1] * n_updates
    assert selection.raced == raced


def test_the_best_snapshot_is_kept_with_its_start():
    refined, _ = annealed(ByThreshold(42.3), 48)
    assert refined.tree.threshold[0] == 42.25
    assert refined.tree.feature[0] == SPIN
    assert refined.tree.env_id == "CartPole-v1"
    assert refined.start == 1
    assert refined.selection_return == pytest.approx(-0.05)
    # the agent is that of the end, of the same start
    assert refined.agent.actor.comparators.tolist() == [48.25]
    assert refined.agent.update == 48


def test_what_came_in_stays_if_nothing_better_comes():
    selection = ByThreshold(0.3)
    refined, _ = annealed(selection, 3, snapshots=[Snapshot(CLUMSY, 0)])
    assert refined.tree is CLUMSY
    assert refined.start == 0
    assert len(selection.raced) == 5


def test_every_segment_is_told_with_the_snapshots_so_far():
    told = []
    annealed(
        ByThreshold(0),
        3,
        snapshots=[Snapshot(GOOD, 1)],
        on_segment=lambda progress, snapshots: told.append((progress.update, len(snapshots))),
    )
    assert told == [(1, 1), (2, 3), (3, 5)]


def test_going_on_from_the_middle_ends_the_same():
    """With the agents and snapshots of a segment, as they are found in a checkpoint."""
    kept: list[tuple[Agent, list[Snapshot]]] = []
    whole, _ = annealed(
        ByThreshold(5.0),
        6,
        on_segment=lambda progress, snapshots: kept.append((progress.agents, list(snapshots))),
    )
    middle, snapshots = kept[4]
    selection = ByThreshold(5.0)
    resumed = anneal(middle, TASK, Scripted(), selection, snapshots=snapshots)
    assert resumed.tree.to_dict() == whole.tree.to_dict()
    assert resumed[2:] == whole[2:]
    assert selection.raced == [4, 4.25, 5, 5.25, 6, 6.25]


class FlawlessAt(ByThreshold):
    """Finds no fault with the tree whose threshold is what it wants."""

    def flawless(self, trees, moment, rounds):
        thresholds = [float(tree.threshold[0]) for tree in trees]
        return thresholds.index(self.wanted) if self.wanted in thresholds else None


def test_a_flawless_tree_ends_the_training():
    told = []
    refined, segment = annealed(
        FlawlessAt(6.25),
        48,
        enough=2,
        on_segment=lambda progress, snapshots: told.append((progress.update, len(snapshots))),
    )
    assert segment.lengths == [2, 2, 2]
    assert told == [(2, 0), (4, 0), (6, 0)]
    assert refined.tree.threshold[0] == 6.25
    assert (refined.start, refined.selection_return) == (1, 500.0)
    assert refined.agent.update == 6


def test_a_flawless_tree_of_more_leaves_than_enough_does_not():
    refined, segment = annealed(FlawlessAt(6.25), 48, enough=1)
    assert sum(segment.lengths) == 48
    assert refined.tree.threshold[0] == 32


def test_a_run_that_was_stopped_at_its_end_ends_there():
    """Between the last checkpoint and the result."""
    _, segment = annealed(FlawlessAt(6.25), 48, enough=2)
    ended, _ = segment(agents(48), 6)
    again = Scripted()
    refined = anneal(ended, TASK, again, FlawlessAt(6.25), enough=2)
    assert again.lengths == []
    assert refined.tree.threshold[0] == 6.25
