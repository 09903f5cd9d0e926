"""Where trees are tried against the worst start: in a plant, or in episodes with chosen seeds."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.config import WorstCaseConfig
from crisptree.crispen.pace import GRACE
from crisptree.crispen.prune import visited_states
from crisptree.crispen.worst_case import Starts
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task
from crisptree.pipeline.plant_rollout import PlayedBy, Scorer, scorer
from crisptree.verify.claims import Claim, Judge
from crisptree.verify.falsify import Falsifier, beyond
from crisptree.verify.loop import Loop
from crisptree.verify.plants import Plant, plant_of
from crisptree.verify.simulate import box_starts, natures, states

LENGTH = 500
"""Steps of an episode where nothing limits it."""
SPREADS = (0.3, 0.1, 0.03, 0.01)
"""How far the adversary goes from a bad start, as shares of the range of starts."""
FIRST_LEVEL, LEVEL_GROWS = 0.125, 1.5
"""The share of the pushes to begin with, and by how much it grows once a tree stands them."""
RECORDED, RECORDED_EVERY = 128, 5
FALSIFIER_SECONDS = 20.0
SEEDS = 16
"""Seeds are this many times fewer than states, since an environment takes longer over a step."""


def plant_for(task: Task) -> Plant | None:
    """The plant that describes a task's environment and says what is good there: one that comes
    with crisptree, or the one that the environment itself is made of."""
    if task.n_agents is not None or task.source.feature_function is not None:
        return None
    plant = plant_of(task.env_id) if not task.env_kwargs else None
    if plant is None:
        env = task.make()
        plant = getattr(env.unwrapped, "plant", None)
        env.close()
    if not isinstance(plant, Plant) or len(plant.feature_names) != task.n_features:
        return None
    return plant if plant.reward or plant.goal or plant.limits else None


@dataclass
class PlantTrial:
    """Episodes of a plant, side by side, from states of the adversary's choice.

    `plant_rollout` says what a score is.
    """

    plant: Plant
    settings: WorstCaseConfig
    rng: np.random.Generator
    seed: int
    more: list[NDArray[np.float64]] = field(default_factory=list)
    """Starts that were found elsewhere."""
    level: float = field(init=False)
    """The share of the pushes that are played so far."""

    def __post_init__(self) -> None:
        self.level = FIRST_LEVEL if self._ends_by_limits else 1.0

    @property
    def _ends_by_limits(self) -> bool:
        """Whether a score is above zero exactly where a tree keeps to the limits."""
        return self.plant.reward is None and not self.plant.goal

    @property
    def horizon(self) -> int:
        length = self.plant.max_steps or LENGTH
        return round(length * self.settings.horizon) if self._ends_by_limits else length

    def starts(self, n: int) -> Starts:
        found = box_starts(self.plant.reset_box, n - len(self.more), self.rng)
        return np.concatenate([np.array(self.more).reshape(-1, found.shape[1]), found])

    def near(self, worst: Starts, n: int) -> Starts:
        box = self.plant.reset_box
        parents = worst[self.rng.integers(len(worst), size=n)]
        spread = self.rng.choice(SPREADS, (n, 1)) * (box[:, 1] - box[:, 0])
        return np.clip(self.rng.normal(parents, spread), box[:, 0], box[:, 1])

    def scores(self, trees: Sequence[CrispTree], starts: Starts) -> NDArray[np.float64]:
        return self._scorer(trees, starts, self.level)

    def harder(self) -> bool:
        if not self.settings.push or self.level == 1.0:
            return False
        self.level = min(1.0, LEVEL_GROWS * self.level)
        return True

    @cached_property
    def _scorer(self) -> Scorer:
        return scorer(self.plant, PlayedBy(self.horizon, self.settings.push, self.seed))

    def states(self, tree: CrispTree) -> NDArray:
        rng, loop = np.random.default_rng(self.seed), Loop(tree, self.plant)
        begun = box_starts(self.plant.reset_box, RECORDED, rng)
        course = states(loop, begun, natures(loop, RECORDED, self.horizon, rng))
        limits, found = self.plant.box(self.plant.limits), []
        inside = np.ones(RECORDED, bool)
        for step, now in enumerate(course):
            inside &= beyond(self.plant.quantities_of(now), limits) <= 0
            if not inside.any():
                break
            if step % RECORDED_EVERY == 0:
                found.append(self.plant.observations(now[inside]))
        return np.concatenate(found)

    def counterexample(self, tree: CrispTree, deadline: float) -> NDArray[np.float64] | None:
        """A start from which the verifier's search sees the tree fail."""
        plant = self.plant
        if not plant.limits and not plant.goal:
            return None
        kind = "reaches" if plant.goal else "stays"
        region = plant.box(plant.goal if plant.goal else plant.limits)
        acting = tuple(plant.disturbance.values())
        claim = Claim(kind, plant.reset_box, region, self.horizon, disturbance=acting)
        falsifier = Falsifier(Loop(tree, plant), Judge(plant, claim))
        end = min(deadline, time.monotonic() + FALSIFIER_SECONDS)
        found = falsifier.search(end, seed=self.seed + len(self.more))
        return None if found is None else found.states[0]

    @property
    def in_words(self) -> str:
        return f"worst starts: states of the plant {self.plant.name}, {self.horizon:,} steps each"


@dataclass
class EpisodeTrial:
    """Episodes of an environment whose state cannot be set: seeds are what is chosen."""

    task: Task
    seed: int
    end: float
    """When everything must be over, on `time.monotonic`'s clock."""
    drawn: int = 0

    def starts(self, n: int) -> Starts:
        self.drawn += 1
        count = max(2, n // SEEDS)
        first = block_seed("selection", count, self.seed, self.drawn)
        return np.arange(first, first + count)

    def near(self, worst: Starts, n: int) -> Starts:
        """Other seeds, at random: nothing tells which are alike."""
        return self.starts(n * SEEDS)

    def scores(self, trees: Sequence[CrispTree], starts: Starts) -> NDArray[np.float64]:
        seeds = starts.tolist()
        deadline = max(self.end, time.monotonic() + GRACE)
        played = rollout(trees, self.task, seeds, fast=True, deadline=deadline)
        return played.returns

    def states(self, tree: CrispTree) -> NDArray:
        return visited_states(tree, self.task, self.seed, episodes=32, until=self.end)

    def harder(self) -> bool:
        return False

    def counterexample(self, tree: CrispTree, deadline: float) -> None:
        return None

    @property
    def in_words(self) -> str:
        return (
            f"worst starts: the lowest of the selection episodes, since no start of "
            f"{self.task.name} can be chosen and no plant is known for it"
        )
