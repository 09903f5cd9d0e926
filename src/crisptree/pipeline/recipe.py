"""The way to crisp in numbers: sizes, steps and schedules of every stage.

These are the settings measured in docs/soft-to-crisp.md. What differs between environments is
only how much there is to learn.
"""

from dataclasses import dataclass, replace

from crisptree.crispen.search import Search
from crisptree.learn.config import Learning

SMALL = 24
"""Leaves below which a tree counts as small (docs/soft-to-crisp.md)."""
CUTS_HURT = 36
"""Leaves from which on the way to a small tree makes several tries."""


@dataclass(frozen=True)
class Recipe:
    wide: int
    """Leaves at the start; the tree ends smaller."""
    wide_for_small: int
    """Leaves that a teacher's tree begins with where it is to end small."""
    starts: int
    """Random starts side by side; the best goes on."""
    attempts: int
    """Ways gone one after the other, at most, while the tree falls short of what can be earned."""
    steps: int
    """Environment steps of the direct training, a start."""
    refine_share: float
    """Steps of a refinement after a cut, as a share of `steps`."""
    polish_share: float
    """Steps of the last refinement, as a share of `steps`; with 0 the search alone mends."""
    teacher_share: float
    """Steps of a teacher's training, as a share of `steps`."""
    mend_share: float
    """Steps of the refinement after distilling, as a share of `steps`."""
    tries: int
    """Cuts made and refined side by side on the way to a small tree; the best goes on."""
    list_steepness: float
    """How much steeper lists end: their rules multiply, so what is soft adds up."""
    rounds: int
    """Rounds of DAgger."""
    race_below: int
    """From this many leaves on, candidates for pruning race on return."""
    learning: Learning
    """The direct training; the other stages derive theirs from it."""
    redraw_until: float
    """Share of the direct training in which idle nodes are drawn again."""
    search: Search
    """The last stage: small changes to the crisp tree, raced on return."""
    soft: Learning
    """The paper's oblique soft tree, by today's PPO."""
    soft_steps: int
    """Environment steps of the soft tree's training."""

    def distilled(self, budget: int, shape: str) -> int:
        """Leaves to distil into."""
        small = shape == "tree" and budget < SMALL
        return min(self.wide, self.wide_for_small) if small else self.wide

    def tries_at(self, size: int, budget: int, taught: bool) -> int:
        """Where every cut costs much, one alone is a matter of luck; from scratch there is no time
        for more."""
        return self.tries if taught and budget < SMALL and size <= CUTS_HURT else 1

    def refines_last_cut(self, budget: int) -> bool:
        """Without a polish the search alone mends the last cut, except in small trees."""
        return budget < SMALL and self.polish_share == 0

    def for_shape(self, config: Learning, shape: str) -> Learning:
        """A refinement's settings, which end steeper for a list."""
        if shape == "tree":
            return config
        assert config.steepness is not None
        first, last = config.steepness
        return replace(config, steepness=(first, last * self.list_steepness))

    @property
    def refine(self) -> Learning:
        return replace(
            self.learning,
            learning_rate=2e-3,
            entropy=0.005,
            steepness=(15.0, 60.0),
            normalise_observations=False,
        )

    @property
    def first_refine(self) -> Learning:
        """After distilling: softer, since much is to be mended."""
        return replace(self.refine, steepness=(8.0, 50.0))

    @property
    def polish(self) -> Learning:
        return replace(self.refine, steepness=(20.0, 120.0))

    @property
    def teacher(self) -> Learning:
        return replace(self.learning, learning_rate=1e-3, leaf_rate=1.0, steepness=None)


BASE = Learning(
    n_envs=64,
    n_steps=128,
    minibatches=8,
    epochs=4,
    learning_rate=3e-3,
    leaf_rate=3.0,
    entropy=0.01,
    steepness=(2.0, 150.0),
)

SOFT = replace(BASE, learning_rate=1e-2, leaf_rate=1.0, steepness=None)

HOST = Recipe(
    wide=128,
    wide_for_small=64,
    starts=1,
    attempts=1,
    steps=5_000_000,
    refine_share=0.14,
    polish_share=0.0,
    teacher_share=0.5,
    mend_share=0.5,
    tries=2,
    list_steepness=3.0,
    rounds=16,
    race_below=90,
    learning=BASE,
    redraw_until=0.6,
    search=Search(sweeps=20, rounds=(24, 48, 96), confirm=256),
    soft=SOFT,
    soft_steps=3_000_000,
)

TEAM = replace(
    HOST,
    wide=64,
    starts=2,
    polish_share=0.5,
    tries=1,
    search=Search(sweeps=24, rounds=(32, 64, 128), confirm=256),
)

WILDFIRE = replace(
    TEAM,
    steps=1_500_000,
    teacher_share=2.0,
    # Every step pays for where the drones are: a short sight tells them sooner what was good.
    learning=replace(BASE, gamma=0.95, entropy=0.003),
    soft=replace(SOFT, gamma=0.95, entropy=0.0, learning_rate=2e-2),
)

ZERGLINGS = replace(
    TEAM,
    steps=1_000_000,
    teacher_share=2.0,
    learning=replace(BASE, entropy=0.003),
    soft=replace(SOFT, entropy=0.003, learning_rate=2e-2),
    soft_steps=700_000,
)

NARROW = {"critic_width": 32, "critic_rate": 4e-3}
"""Learns four features as well as 64 units do, in less than half of the time (docs/speed.md)."""

CARTPOLE = replace(
    HOST,
    wide=16,
    wide_for_small=16,
    redraw_until=0.0,
    search=Search(sweeps=30, rounds=(64, 128, 512), confirm=4096, patience=8),
    starts=2,
    attempts=4,
    steps=360_000,
    refine_share=0.4,
    polish_share=0.4,
    teacher_share=1.0,
    mend_share=0.8,
    tries=1,
    list_steepness=1.0,
    rounds=4,
    learning=replace(
        BASE, n_steps=64, minibatches=4, learning_rate=1e-2, compiling="quick", **NARROW
    ),
    soft=replace(SOFT, n_envs=256, n_steps=64, minibatches=4, epochs=2, **NARROW),
    soft_steps=1_000_000,
)


def recipe_for(env_id: str) -> Recipe:
    match env_id:
        case "CartPole-v1":
            return CARTPOLE
        case "crisptree/Wildfire-v0":
            return WILDFIRE
        case "crisptree/Zerglings-v0":
            return ZERGLINGS
    return HOST


def ladder(leaves: int, budget: int, race_below: int) -> list[int]:
    """Sizes on the way down: a quarter at a time while large, then a sixth, then a leaf or two.

    One refinement does not repair a big cut.
    """
    sizes = []
    while leaves > budget:
        share = 0.75 if leaves > race_below else 0.84
        leaves = max(budget, min(leaves - 1, round(leaves * share)))
        sizes.append(leaves)
    return sizes
