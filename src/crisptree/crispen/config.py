"""The numbers of crispening: part of `pipeline.config.TrainConfig`. Nothing here imports JAX."""

from dataclasses import dataclass

from crisptree.base.errors import CrisptreeError


@dataclass(frozen=True)
class DistillConfig:
    """DAgger: a tree imitates a teacher on the states that the tree itself visits."""

    rounds: int = 16
    """Rounds of playing, labelling and fitting."""
    patience: int = 8
    """Rounds without a better tree after which it ends."""
    episodes: int = 64
    """Episodes played in a round."""
    finalists: int = 6
    """Trees of the best rounds that race at the end."""
    alternate: bool = True
    """Whether each question of a fitted tree is chosen again for what stands below it (trees with
    constant leaves)."""
    weighted: bool | None = None
    """Whether a state counts by what a wrong action costs there; where the teacher knows, unless
    given."""


@dataclass(frozen=True)
class DeriveConfig:
    """Features a person would form: weighted sums of a few, found in what a teacher decides."""

    enabled: bool = False
    """Look for such features, and offer them to the tree."""
    most: int = 4
    """At most this many derived features."""
    terms: int = 3
    """At most this many features in a sum."""
    digits: int = 2
    """Digits of their weights."""
    price: float = 0.01
    """What each further term must be worth: a share of the states that a tree without derived
    features decides otherwise than its teacher."""
    rounds: int = 6
    """Rounds of choosing, each on more states that trees visit."""

    def __post_init__(self) -> None:
        for name, least in (("most", 1), ("terms", 2), ("digits", 1), ("rounds", 1)):
            if getattr(self, name) < least:
                given = getattr(self, name)
                raise CrisptreeError(f"derive.{name} must be at least {least}, not {given}")


@dataclass(frozen=True)
class PruneConfig:
    """Inner nodes are replaced by one of their children, a few leaves at a time."""

    step: float = 0.8
    """Share of the leaves that remain after a cut."""
    races: int = 3
    """Steps in which a tree is cut to the next size, at most."""
    ways: int = 16
    """Ways to cut that race in each step."""
    rounds: tuple[int, ...] = (32, 64, 128)
    """Episodes of the rounds of a race."""
    check: int = 128
    """Fresh episodes that show what the tree earns after a cut."""
    free_check: int = 256
    """Fresh episodes on which the last cuts, which must cost nothing, are checked."""


@dataclass(frozen=True)
class SearchConfig:
    """Small changes to the crisp tree itself, raced on return."""

    sweeps: int | None = None
    """Most sweeps: as many as there is time for, or 24 where nobody gave a time, unless given."""
    width: int | None = None
    """Changed trees in a sweep: 24, or 1,024 where an accelerator plays them, unless given."""
    rounds: tuple[int, ...] = (16, 16, 32, 64, 128, 256, 512)
    """Episodes of the rounds of the race among them: few play all of them."""
    confirm: int = 512
    """Fresh episodes on which several changes together must earn more than the best alone."""
    patience: int = 8
    """Sweeps in a row without a gain after which the search ends."""
    reach: tuple[float, float] = (0.15, 0.01)
    """How far a threshold moves, as a share of the states at its node: at most and at least."""
    lost: int = 128
    """Most episodes that a nearly flawless tree has lost, on which changes to it are tried."""
    lost_share: float = 0.05
    """The largest share of lost episodes with which a tree counts as nearly flawless."""

    def __post_init__(self) -> None:
        if min(self.lost, self.patience) < 1 or not 0 <= self.lost_share <= 1:
            raise CrisptreeError(
                "search.lost and search.patience must be at least 1, and search.lost_share must "
                "lie in 0 … 1"
            )


@dataclass(frozen=True)
class WorstCaseConfig:
    """Small changes to the crisp tree, judged by the starts that go worst."""

    enabled: bool = False
    """Whether the worst starts choose the tree in the end."""
    share: float = 0.02
    """The lowest share of the starts, whose mean counts first; the mean of all comes second."""
    starts: int = 2_048
    """Starts that a tree is judged by: corners, faces and the inside of where episodes begin, and
    worse ones that are found on the way. Seeds, where no start can be chosen: a sixteenth of it."""
    hard: int = 96
    """The worst of them, on which changes are tried first."""
    width: int = 12
    """Changed trees in a round."""
    confirmed: int = 3
    """How many of the changes that help the worst starts are tried on all starts."""
    rounds: int = 2_000
    """Most rounds."""
    patience: int = 150
    """Rounds in a row without a gain after which it ends."""
    horizon: float = 4.0
    """Lengths of an episode that are played where an episode only ends by failing or by time."""
    push: float = 0.0
    """Every twelve steps the states of every other episode are pushed aside by this share of the
    range in which they start, as an adversary would: a tree that stands this is easier to prove."""

    def __post_init__(self) -> None:
        if not (0 < self.share <= 1 and self.push >= 0 and self.horizon > 0):
            raise CrisptreeError(
                "worst_case.share must lie in 0 … 1, worst_case.horizon above 0 and "
                "worst_case.push at 0 or above"
            )
        for name in ("starts", "hard", "width", "confirmed", "rounds", "patience"):
            if getattr(self, name) < 1:
                raise CrisptreeError(f"worst_case.{name} must be at least 1")


@dataclass(frozen=True)
class EvolveConfig:
    """All numbers of a tree with real actions, improved together by their return (random
    search)."""

    generations: int | None = None
    """Most generations; for real actions as many as `steps` allow, 400 at most, and none for
    choices, unless given."""
    population: int = 16
    """Trees of a generation, in pairs on both sides of the one that moves."""
    episodes: int = 6
    """Episodes that each of them plays; the next generation plays others."""
    spread: float = 0.05
    """Distance of the tries, in deviations of the states that the tree visits and in halves of an
    action's range."""
    shrink_from: float = 0.0
    """Progress from which on that distance shrinks, to a fifth in the end."""
    confirm: int = 256
    """Fresh episodes on which the outcome must earn more."""

    def __post_init__(self) -> None:
        if self.population < 4 or self.episodes < 1 or not self.spread > 0:
            raise CrisptreeError(
                "to evolve, population must be at least 4, episodes at least 1 and spread above 0"
            )
        if not 0 <= self.shrink_from < 1:
            raise CrisptreeError(f"shrink_from must be from 0 to below 1, not {self.shrink_from}")


@dataclass(frozen=True)
class RuleConfig(EvolveConfig):
    """A teacher: one linear rule of all features, found from nothing in the same way."""

    generations: int | None = None
    """Most generations; 1,000 where the time ends them, else as many as `steps` allow, 400 at most,
    unless given."""
    population: int = 16
    """Rules of a generation, in pairs on both sides of the one that moves."""
    episodes: int = 1
    """Episodes that each of them plays; the next generation plays others."""
    spread: float = 0.03
    """Distance of the tries, in deviations of the states that the rule visits and in halves of an
    action's range."""
    shrink_from: float = 0.8
    """Progress from which on that distance shrinks, to a fifth in the end."""


@dataclass(frozen=True)
class SelectionConfig:
    """Episodes that choose among trees; they are never reported."""

    scale: float | None = None
    """A factor for all counts of selection episodes; measured unless given, so that the choices
    take a fixed share of the time."""
    episode_length: float | None = None
    """Steps of an episode that the scale is meant for. Where those of the first tree are more than
    twice as long, later choices have fewer of them. Measured with the scale unless that is given;
    0 if no length is too long."""
    snapshots: tuple[int, ...] = (32, 64, 128)
    """Episodes of the race among the snapshots of a training."""
    final: int = 512
    """Episodes on which candidates are compared in the end."""
    settled: tuple[int, ...] = (64, 512, 4096)
    """Episodes, round by round, in all of which a tree must earn as much as was ever earned to
    count as settled: nothing better is in sight then, and the search for it ends."""
    compiled: tuple[int, ...] = (32_768, 65_536)
    """Further rounds for the last tree where episodes are compiled, and cost next to nothing."""
    states: int = 20_000
    """Most states that are kept of those a tree meets."""
