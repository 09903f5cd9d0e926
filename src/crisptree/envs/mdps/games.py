"""Two games: black jack without aces that count 1, and a choice that depends on two signs."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from crisptree.envs.mdps.table import Model, Outcome, State, as_env

CARDS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11)
LIMIT, BUST = 21, 22
DEALER_STANDS = 17
POINTS = 200


def _is_over(standing: int, player: int, dealer: int) -> bool:
    return player > LIMIT or (standing == 1 and dealer >= DEALER_STANDS)


def _payment(player: int, dealer: int) -> float:
    if player > LIMIT or player <= dealer <= LIMIT:
        return -1.0
    return 1.5 if player == LIMIT and dealer < LIMIT else 1.0


@as_env
def simple_blackjack() -> Model:
    """Games of black jack, one after the other: draw, or stand and watch the dealer draw. A game
    that is over is paid with the next action, which leads to a new deal."""
    share = 1 / len(CARDS)

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        standing, player, dealer = state
        if player == 0:
            for one, two, shown in product(CARDS, repeat=3):
                yield Outcome(share**3, (0, min(one + two, BUST), shown), 0.0)
        elif _is_over(standing, player, dealer):
            yield Outcome(1.0, (0, 0, 0), _payment(player, dealer))
        elif action == 1 and not standing:
            for card in CARDS:
                yield Outcome(share, (0, min(player + card, BUST), dealer), 0.0)
        elif dealer >= DEALER_STANDS:
            yield Outcome(1.0, (1, player, dealer), 0.0)
        else:
            for card in CARDS:
                yield Outcome(share, (1, player, min(dealer + card, BUST)), 0.0)

    features = ("standing", "player's total", "dealer's total")
    return Model(features, ("stand", "draw"), {(0, 0, 0): 1.0}, outcomes, flags=("standing",))


@as_env
def xor() -> Model:
    """Say whether exactly one of two numbers is negative; the next ones are drawn at random."""
    points = np.random.RandomState(0).randint(-100, 100, size=(POINTS, 2))
    states: list[State] = [(int(x), int(y)) for x, y in points]

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        is_one = (state[0] < 0) != (state[1] < 0)
        reward = 1.0 if is_one == (action == 1) else -1.0
        for to in states:
            yield Outcome(1 / POINTS, to, reward)

    start: dict[State, float] = {}
    for state in states:
        start[state] = start.get(state, 0.0) + 1 / POINTS
    return Model(("x", "y"), ("both or none is negative", "one is negative"), start, outcomes)
