"""The checker's polynomials: how a number depends on where a tube starts, up to a rest.

A `Polynomial` is all values of `coefficients · products of variables` with every variable in
[-1, 1], and up to `rest` besides. The rest holds what the real function and a program that computes
it in float64 differ from the polynomial. `POLYNOMIALS` is what a plant's equations get for NumPy.
"""

from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.checker_numbers import NUMBERS, Answer, Number, number

Values = Any
HIGHEST, MOST_PRODUCTS = 4, 700


class Basis:
    """The products of variables that are kept: those of up to `degree` of the first variables, and
    each of the second ones alone or with one of the first."""

    def __init__(self, count: int) -> None:
        fitting = [d for d in range(2, HIGHEST + 1) if comb(count + d, d) <= MOST_PRODUCTS]
        self.count, self.degree = count, max(fitting, default=2)
        starts = range(count)
        kinds = [list(combinations_with_replacement(starts, d)) for d in range(self.degree + 1)]
        kinds.append([(count + at,) for at in starts])
        kinds.append([(i, count + at) for i in starts for at in starts])
        products = [product for kind in kinds for product in kind]
        self.size = len(products)
        place = {product: at for at, product in enumerate(products)}
        self.kind = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
        pairs = []
        for i, left in enumerate(products):
            for j, right in enumerate(products):
                at = place.get(tuple(sorted(left + right)))
                if at is not None:
                    pairs.append((at, i, j))
        found, self.one, self.other = np.array(sorted(pairs)).T
        self.begins = np.searchsorted(found, np.arange(self.size))
        """Where the pairs begin that belong to each product."""
        self.by_kind = (self.kind == np.arange(len(kinds))[:, None]).astype(np.float64)
        self.dropped = np.ones((len(kinds), len(kinds)))
        """1 where the products of two kinds are not kept."""
        self.dropped[self.kind[self.one], self.kind[self.other]] = 0.0
        self.first = np.array([place[(at,)] for at in starts])
        self.second = np.array([place[(count + at,)] for at in starts])
        self.mixed = np.flatnonzero(self.kind == len(kinds) - 1)
        # The square of a variable lies in [0, 1], and so do products of squares.
        self.is_even = np.array(
            [all(product.count(each) % 2 == 0 for each in product) for product in products]
        )
        self.loss = (self.size + 16) * 2.0**-51
        """More than sums of so many numbers lose by rounding, relative to their sizes."""


@cache
def basis_of(count: int) -> Basis:
    return Basis(count)


class Polynomial:
    """`coefficients` are `(products, N)`, `rest` is `(N,)`."""

    __slots__ = ("basis", "coefficients", "rest")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    is_polynomial = True

    def __init__(self, basis: Basis, coefficients: Values, rest: Values) -> None:
        self.basis, self.coefficients, self.rest = basis, coefficients, rest

    def hull(self) -> Number:
        """Its bounds."""
        others, even = self.coefficients[1:], self.basis.is_even[1:, None]
        least = np.where(even, np.minimum(others, 0.0), -np.abs(others)).sum(axis=0)
        most = np.where(even, np.maximum(others, 0.0), np.abs(others)).sum(axis=0)
        is_exact = (self.rest == 0) & ~others.any(axis=0)
        spare = np.where(is_exact, 0.0, self.rest + self.basis.loss * (self.size + self.rest))
        low, high = self.coefficients[0] + least - spare, self.coefficients[0] + most + spare
        known = np.isfinite(low) & np.isfinite(high)
        return Number(np.where(known, low, -np.inf), np.where(known, high, np.inf))

    @property
    def size(self) -> Values:
        return np.abs(self.coefficients).sum(axis=0)

    def take(self, rows: Any) -> "Polynomial":
        return Polynomial(self.basis, self.coefficients[:, rows], self.rest[rows])

    def __add__(self, other: Any) -> "Polynomial":
        other = polynomial(other, self)
        return _widened(self, self.coefficients + other.coefficients, self.rest + other.rest)

    def __neg__(self) -> "Polynomial":
        return Polynomial(self.basis, -self.coefficients, self.rest)

    def __pos__(self) -> "Polynomial":
        return self

    def __sub__(self, other: Any) -> "Polynomial":
        return self + -polynomial(other, self)

    def __rsub__(self, other: Any) -> "Polynomial":
        return -self + other

    def __mul__(self, other: Any) -> "Polynomial":
        if isinstance(other, int | float):
            return _widened(self, self.coefficients * other, self.rest * abs(other))
        with np.errstate(invalid="ignore", over="ignore"):  # zero times what is not bounded
            return self._times(polynomial(other, self))

    def _times(self, other: "Polynomial") -> "Polynomial":
        basis = self.basis
        products = self.coefficients[basis.one] * other.coefficients[basis.other]
        kinds, others = (basis.by_kind @ np.abs(each.coefficients) for each in (self, other))
        rest = (kinds * (basis.dropped @ others)).sum(axis=0)
        rest = rest + self.size * other.rest + other.size * self.rest + self.rest * other.rest
        kept = np.add.reduceat(products, basis.begins, axis=0)
        return _widened(self, kept, rest, self.size * other.size)

    def __truediv__(self, other: Any) -> "Polynomial":
        return self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> "Polynomial":
        hull, degree = self.hull(), self.basis.degree
        known = (hull.low > 0) | (hull.high < 0)
        nearest = np.where(known, np.minimum(np.abs(hull.low), np.abs(hull.high)), 1.0)
        middle = np.where(known, self.coefficients[0], 1.0)
        ways = [(-1.0 / middle) ** power / middle for power in range(degree + 1)]
        beyond = np.where(known, nearest ** -(degree + 2.0), np.inf)
        return _taylor(self, ways, beyond, 1.0 / hull) * other

    def __pow__(self, exponent: int) -> "Polynomial":
        found = self
        for _ in range(int(exponent) - 1):
            found = found * self
        return found

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> Any:
        return self.hull() < number(other)

    def __le__(self, other: Any) -> Any:
        return self.hull() <= number(other)

    def __gt__(self, other: Any) -> Any:
        return self.hull() > number(other)

    def __ge__(self, other: Any) -> Any:
        return self.hull() >= number(other)

    def __eq__(self, other: Any) -> Any:
        return self.hull() == number(other)

    def __ne__(self, other: Any) -> Any:
        return self.hull() != number(other)


def starting(low: NDArray, high: NDArray) -> list[Polynomial]:
    """A polynomial for each column of boxes, each with a variable of its own."""
    n, count = low.shape
    basis = basis_of(count)
    found = []
    for at in range(count):
        coefficients = np.zeros((basis.size, n))
        middle = coefficients[0] = (low[:, at] + high[:, at]) / 2
        half = np.maximum(high[:, at] - middle, middle - low[:, at])
        coefficients[basis.first[at]] = half
        rest = np.where(half == 0, 0.0, basis.loss * (half + np.abs(middle)))
        found.append(Polynomial(basis, coefficients, rest))
    return found


def polynomial(value: Any, like: Polynomial) -> Polynomial:
    """A number as a polynomial that never changes; a polynomial as it is."""
    if isinstance(value, Polynomial):
        return value
    of, n = number(value), len(like.rest)
    low, high = np.broadcast_to(of.low, n), np.broadcast_to(of.high, n)
    coefficients = np.zeros_like(like.coefficients)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isfinite(low) & np.isfinite(high), low / 2 + high / 2, 0.0)
    half = np.maximum(high - middle, middle - low)
    coefficients[0] = middle
    return Polynomial(like.basis, coefficients, half + like.basis.loss * half)


def _widened(
    like: Polynomial, coefficients: Values, rest: Values, size: Values = 0.0
) -> Polynomial:
    """A result with what rounding may have lost: a share of its size, or of all that was added."""
    loss = like.basis.loss
    total = np.abs(coefficients).sum(axis=0) + size
    return Polynomial(like.basis, coefficients, rest * (1 + 4 * loss) + loss * total + 1e-300)


def _taylor(of: Polynomial, ways: list[Values], beyond: Values, plain: Number) -> Polynomial:
    """A function by its derivatives at the middle, each over its factorial, up to the degree;
    `beyond` bounds the next one. The function's bounds instead, where they say more."""
    moved = of.coefficients.copy()
    moved[0] = 0.0
    step = Polynomial(of.basis, moved, of.rest)
    far = (step.size + step.rest) * (1 + of.basis.loss)
    power, found = step, polynomial(ways[0], of)
    sizes = np.abs(ways[0])
    with np.errstate(invalid="ignore", over="ignore"):
        for at, way in enumerate(ways[1:], 1):
            power = power * step if at > 1 else step
            term = Polynomial(of.basis, power.coefficients * way, power.rest * np.abs(way))
            found, sizes = found + term, sizes + np.abs(way) * far**at
        missed = beyond * far ** len(ways) * (1 + 8 * of.basis.loss)
        # The derivatives and the program's function are off by a few units in the last place.
        found = _widened(of, found.coefficients, found.rest + missed, 8 * sizes)
    other = polynomial(plain, of)
    return _picked(found.rest <= other.rest, found, other)


def _picked(is_one: Values, one: Polynomial, other: Polynomial) -> Polynomial:
    return Polynomial(
        one.basis,
        np.where(is_one, one.coefficients, other.coefficients),
        np.where(is_one, one.rest, other.rest),
    )


class Polynomials:
    """NumPy's functions; what is no polynomial goes to the checker's plain numbers."""

    pi, inf = np.pi, np.inf

    @staticmethod
    def sin(of: Any) -> Any:
        return _turning(of, NUMBERS.sin, NUMBERS.cos, np.pi / 2) if _is(of) else NUMBERS.sin(of)

    @staticmethod
    def cos(of: Any) -> Any:
        return _turning(of, NUMBERS.cos, NUMBERS.sin, 0.0) if _is(of) else NUMBERS.cos(of)

    @staticmethod
    def square(of: Any) -> Any:
        return of * of if _is(of) else NUMBERS.square(of)

    @staticmethod
    def exp(of: Any) -> Any:
        if not _is(of):
            return NUMBERS.exp(of)
        plain, degree = NUMBERS.exp(of.hull()), of.basis.degree
        ways = [np.exp(of.coefficients[0]) / factorial(power) for power in range(degree + 1)]
        return _taylor(of, ways, plain.high / factorial(degree + 1), plain)

    @classmethod
    def tanh(cls, of: Any) -> Any:
        if not _is(of):
            return NUMBERS.tanh(of)
        fallen = cls.exp(-2.0 * of)
        found, plain = (1.0 - fallen) / (1.0 + fallen), NUMBERS.tanh(of.hull())
        other = polynomial(plain, of)
        return _picked(found.rest <= other.rest, found, other)

    @staticmethod
    def sqrt(of: Any) -> Any:
        if not _is(of):
            return NUMBERS.sqrt(of)
        hull, degree = of.hull(), of.basis.degree
        known = hull.low > 1e-30  # nearer to zero the derivatives are beyond all bounds
        middle, least = np.where(known, of.coefficients[0], 1.0), np.where(known, hull.low, 1.0)
        falling = [1.0]  # 1/2 · (1/2 - 1) · (1/2 - 2) …, each over its factorial
        for power in range(degree + 1):
            falling.append(falling[-1] * (0.5 - power) / (power + 1))
        ways = [each * middle ** (0.5 - power) for power, each in enumerate(falling[:-1])]
        beyond = np.where(known, abs(falling[-1]) * least ** (-0.5 - degree), np.inf)
        return _taylor(of, ways, beyond, NUMBERS.sqrt(hull))

    @classmethod
    def abs(cls, of: Any) -> Any:
        return cls.maximum(of, -of) if _is(of) else NUMBERS.abs(of)

    absolute = abs

    @staticmethod
    def minimum(one: Any, other: Any) -> Any:
        if not _is(one) and not _is(other):
            return NUMBERS.minimum(one, other)
        like = one if _is(one) else other
        first, second = number(one), number(other)
        both = polynomial(NUMBERS.minimum(first, second), like)
        found = _picked(second.high <= first.low, polynomial(other, like), both)
        return _picked(first.high <= second.low, polynomial(one, like), found)

    @classmethod
    def maximum(cls, one: Any, other: Any) -> Any:
        return -cls.minimum(-one, -other)

    @classmethod
    def clip(cls, of: Any, low: Any, high: Any) -> Any:
        return cls.minimum(cls.maximum(of, low), high)

    @staticmethod
    def where(condition: Any, one: Any, other: Any) -> Any:
        if not _is(one) and not _is(other):
            return NUMBERS.where(condition, one, other)
        like = one if _is(one) else other
        answer = condition if isinstance(condition, Answer) else Answer(condition, condition)
        both = polynomial(NUMBERS.where(answer, number(one), number(other)), like)
        found = _picked(~answer.may, polynomial(other, like), both)
        return _picked(answer.must, polynomial(one, like), found)

    @staticmethod
    def float32(of: Any) -> Any:
        if not _is(of):
            return NUMBERS.float32(of)
        # Half the distance of two neighbours is at most 2⁻²⁴ of a number, or of the least ones.
        off = (of.size + of.rest) * 2.0**-23 + 1e-44
        return Polynomial(of.basis, of.coefficients, of.rest + off)


def _is(value: Any) -> bool:
    return isinstance(value, Polynomial)


def _turning(of: Polynomial, function: Any, turned: Any, top: float) -> Polynomial:
    """A sine or cosine, given its top; its derivative is the other one or that with its sign
    changed."""
    middle, degree = of.coefficients[0], of.basis.degree
    # sin = cos(x - π/2), and each derivative is a quarter of a turn on.
    cycle = (np.cos(middle), -np.sin(middle), -np.cos(middle), np.sin(middle))
    ahead = 3 if top else 0
    ways = [cycle[(power + ahead) % 4] / factorial(power) for power in range(degree + 1)]
    hull = of.hull()
    next_ = function(hull) if degree % 2 else turned(hull)
    return _taylor(of, ways, next_.size / factorial(degree + 1), function(hull))


POLYNOMIALS = Polynomials()
