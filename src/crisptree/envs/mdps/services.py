"""Services to keep running: a store, a crossing, and three networks of computers."""

import math
from collections.abc import Iterator
from itertools import product

from crisptree.envs.mdps.table import Model, Outcome, State, as_env

CAPACITY, ORDER_COST, UNIT_COST, HOLDING_COST, PRICE = 100, 10, 2, 1, 4
MEAN_DEMAND, MOST_DEMAND = 15.0, 60
NEGLIGIBLE = 1e-7
"""Demands that are less likely are left out."""
MOST_CARS, LONGEST_WAIT = 5, 5
ARRIVALS = (0.1, 0.5)
"""Mean cars a step from the left and from the right."""
SWITCH_COST, WAITING_COST = 2.0, 0.1
REBOOT_COST = 0.45

Network = tuple[tuple[int, ...], ...]
"""For each computer, those that it needs."""
TREE: Network = ((), (0,), (0,), (1,), (1,), (2,), (2,))
RANDOM_1: Network = ((2, 6), (0,), (0, 4), (2, 6), (5,), (1, 6, 7), (4,), (0,))
RANDOM_2: Network = (
    (3, 6, 7),
    (0, 1, 2, 4),
    (1, 2, 6, 7),
    (1, 2),
    (1, 2, 3, 4),
    (1, 4),
    (4, 5, 7),
    (3, 4, 5),
)


def _poisson(mean: float, count: int) -> float:
    return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))


@as_env
def inventory() -> Model:
    """How much to order each day for a store whose demand is random. An order costs a fixed sum and
    a price for each unit, also for those that find no room; what lies in the store costs each day,
    what is sold earns."""
    chances = [(demand, _poisson(MEAN_DEMAND, demand)) for demand in range(MOST_DEMAND)]
    likely = [(demand, chance) for demand, chance in chances if chance > NEGLIGIBLE]

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        stock = min(state[0] + action, CAPACITY)
        costs = HOLDING_COST * state[0] + (ORDER_COST + UNIT_COST * action if action else 0)
        for demand, chance in likely:
            left = max(stock - demand, 0)
            yield Outcome(chance, (left,), float(PRICE * (stock - left) - costs))

    orders = ("order nothing", *(f"order {n}" for n in range(1, CAPACITY)))
    return Model(("stock",), orders, {(0,): 1.0}, outcomes)


@as_env
def traffic_intersection() -> Model:
    """When to switch the light of a crossing with more cars from one side. In each step a car
    passes on the side with green and pays 1; cars before the red light cost more,
    the longer ago the light was switched. Arrivals that find no room stay away."""

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        green, cars, waited = state[0], list(state[1:3]), state[3]
        reward = -WAITING_COST * cars[1 - green] * 2**waited
        if cars[green]:
            cars[green] -= 1
            reward += 1
        is_switch = action == 0
        if is_switch:
            green, reward = 1 - green, reward - SWITCH_COST
        waited = 1 if is_switch else min(waited + 1, LONGEST_WAIT)
        rooms = [range(MOST_CARS - queue + 1) for queue in cars]
        for new in product(*rooms):
            chance = math.prod(_poisson(*each) for each in zip(ARRIVALS, new, strict=True))
            queues = [queue + more for queue, more in zip(cars, new, strict=True)]
            yield Outcome(chance, (green, *queues, waited), reward)

    features = ("green on the right", "cars left", "cars right", "steps since the switch")
    start = {(0, 0, 0, 0): 1.0}
    return Model(features, ("switch", "wait"), start, outcomes, flags=features[:1])


def _network(needs: Network) -> Model:
    """Which computer to reboot. Each running computer pays 1 a step; a reboot costs, and always
    helps. The others stay up, or come up, with chances that fall with the share of those they need
    that are down."""
    n = len(needs)

    def chance_of_running(state: State, computer: int, action: int) -> float:
        if computer == action:
            return 1.0
        needed = [state[other] for other in needs[computer]]
        share = sum(needed) / len(needed) if needed else 1.0
        return (0.05 + 0.9 * state[computer]) * share

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        up = [chance_of_running(state, computer, action) for computer in range(n)]
        reward = sum(state) - (REBOOT_COST if action < n else 0.0)
        possible = [[x for x in (0, 1) if (p if x else 1 - p) > 0] for p in up]
        for after in product(*possible):
            chance = math.prod(p if x else 1 - p for p, x in zip(up, after, strict=True))
            yield Outcome(chance, after, reward)

    features = tuple(f"computer {i} runs" for i in range(n))
    actions = (*(f"reboot computer {i}" for i in range(n)), "wait")
    return Model(features, actions, {(1,) * n: 1.0}, outcomes, flags=features)


system_administrator_tree = as_env(lambda: _network(TREE))
system_administrator_1 = as_env(lambda: _network(RANDOM_1))
system_administrator_2 = as_env(lambda: _network(RANDOM_2))
