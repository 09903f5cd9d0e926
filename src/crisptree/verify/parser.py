"""Reads tokens: names, terms and conditions. A mistake says what was read and what would do."""

from fractions import Fraction

from crisptree.base.text import printable
from crisptree.verify.conditions import (
    Absolute,
    All,
    Compare,
    Condition,
    Feature,
    Not,
    Number,
    Scaled,
    Some,
    Sum,
    Term,
)
from crisptree.verify.tokens import PropertyError, Token, quote, tokens

DEEPEST = 40
COMPARISONS = ("<", "<=", ">", ">=", "=", "!=")
MOST_ABSOLUTES = 4
EVERY = -1
"""The feature `all` stands for until its comparison is read."""


class Parser:
    """A place in the text, and what can be read from there."""

    def __init__(self, text: str, features: tuple[str, ...], actions: tuple[str, ...]) -> None:
        self._text = text
        self._names = {"feature": features, "action": actions}
        self._tokens = tokens(text, (*features, *actions))
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def error(self, message: str) -> PropertyError:
        return PropertyError(f"in the property {quote(self._text)}: {message}")

    def word(self, word: str) -> bool:
        """Whether the keyword comes next; if so it is read."""
        return self._take("word", word)

    def sign(self, sign: str) -> bool:
        return self._take("sign", sign)

    def expect(self, word: str) -> None:
        if not self.word(word):
            raise self._expected(f"'{word}'")

    def expect_sign(self, sign: str) -> None:
        if not self.sign(sign):
            raise self._expected(f"'{sign}'")

    def end(self, otherwise: str) -> None:
        if self._next.kind != "end":
            raise self._expected(otherwise)

    def quoted(self, what: str) -> str:
        if self._next.kind != "quoted":
            raise self._expected(what)
        return self._advance().text

    def number(self) -> Fraction:
        if self._next.kind != "number":
            raise self._expected("a number")
        value = float(self._advance().text)
        if value == float("inf"):
            raise self.error("a number is larger than any float64")
        return Fraction(value)

    def feature(self) -> int:
        return self._name("feature")

    def action(self) -> int:
        return self._name("action")

    def feature_or_action(self) -> tuple[str, int]:
        """Which of the two comes next, and its number."""
        if self._next.text in self._names["feature"] or self._next.text == "x":
            return "feature", self.feature()
        if self._next.text in self._names["action"] or self._next.text == "action":
            return "action", self.action()
        raise self._expected("a feature or an action")

    def condition(self) -> Condition:
        parts = [self._conjunction()]
        while self.word("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _conjunction(self) -> Condition:
        parts = [self._negation()]
        while self.word("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _negation(self) -> Condition:
        self._deeper()
        if self.word("not"):
            found: Condition = Not(self._negation())
        elif self._next.text == "(" and self._next.kind == "sign":
            found = self._bracket()
        else:
            found = self._comparison()
        self._depth -= 1
        return found

    def _bracket(self) -> Condition:
        """`(a or b)` or `(x + 1) > 2`: whichever reading gets further."""
        start, depth = self._at, self._depth
        try:
            return self._comparison()
        except PropertyError as error:
            further, self._at, self._depth = self._at, start, depth
            first = error
        self.expect_sign("(")
        try:
            found = self.condition()
            self.expect_sign(")")
        except PropertyError as error:
            raise error if self._at >= further else first from None
        return found

    def _comparison(self) -> Condition:
        terms = [self._term()]
        operators: list[str] = []
        while self._next.kind == "sign" and self._next.text in COMPARISONS:
            operators.append(self._advance().text)
            terms.append(self._term())
        if not operators:
            raise self._expected(f"one of {' '.join(COMPARISONS)}")
        links = tuple(
            Compare(left, operator, right)
            for left, operator, right in zip(terms, operators, terms[1:], strict=False)
        )
        whole = links[0] if len(links) == 1 else All(links)
        if max(map(_absolutes, terms)) > MOST_ABSOLUTES:
            raise self.error(f"a term has at most {MOST_ABSOLUTES} absolute values")
        if not any(_mentions_every(term) for term in terms):
            return whole
        every = range(len(self._names["feature"]))
        return All(tuple(_instead(link, feature) for feature in every for link in links))

    def _term(self) -> Term:
        self._deeper()
        found = self._product()
        while self._next.kind == "sign" and self._next.text in "+-":
            factor = Fraction(1 if self._advance().text == "+" else -1)
            right = self._product()
            found = Sum(found, right if factor == 1 else Scaled(factor, right))
        self._depth -= 1
        return found

    def _product(self) -> Term:
        found = self._unary()
        while self._next.kind == "sign" and self._next.text in "*/":
            divided = self._advance().text == "/"
            right = self._unary()
            if divided:
                value = _value(right)
                if not value:
                    raise self.error("only a number other than zero can divide")
                found = Scaled(1 / value, found)
                continue
            left_value, right_value = _value(found), _value(right)
            if left_value is not None:
                found = Scaled(left_value, right)
            elif right_value is not None:
                found = Scaled(right_value, found)
            else:
                raise self.error("features cannot be multiplied with each other, only by numbers")
        return found

    def _unary(self) -> Term:
        if self.sign("-"):
            self._deeper()
            inside = self._unary()
            self._depth -= 1
            return Scaled(Fraction(-1), inside)
        if self.sign("|"):
            found = Absolute(self._term())
            self.expect_sign("|")
            return found
        if self.word("abs"):
            self.expect_sign("(")
            found = Absolute(self._term())
            self.expect_sign(")")
            return found
        if self.sign("("):
            inside = self._term()
            self.expect_sign(")")
            return inside
        if self.word("all"):
            return Feature(EVERY)
        if self._next.kind == "number":
            return Number(self.number())
        return Feature(self.feature())

    def _name(self, what: str) -> int:
        names = self._names[what]
        token = self._next
        if token.kind in ("name", "quoted", "word") and token.text in names:
            self._advance()
            return names.index(token.text)
        if token.kind == "word" and token.text == {"feature": "x", "action": "action"}[what]:
            self._advance()
            self.expect_sign("[")
            number = self.number()
            self.expect_sign("]")
            if number.denominator != 1 or number >= len(names):
                raise self.error(f"the {what}s are numbered 0 … {len(names) - 1}")
            return int(number)
        listed = ", ".join(map(printable, names[:12])) + (", …" if len(names) > 12 else "")
        raise self._expected(f"{'an' if what == 'action' else 'a'} {what}: {listed}")

    def _take(self, kind: str, text: str) -> bool:
        if self._next.kind == kind and self._next.text == text:
            self._at += 1
            return True
        return False

    def _advance(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _expected(self, what: str) -> PropertyError:
        token = self._next
        found = "the end" if token.kind == "end" else f"'{printable(token.text)}'"
        before = self._text[: token.at].strip()[-30:]
        after = f" after '{printable(before)}'" if before else ""
        return self.error(f"expected {what};{after} there is {found}")

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.error(f"it is nested more than {DEEPEST} deep")


def _value(term: Term) -> Fraction | None:
    """The number a term is, if it mentions no feature."""
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Scaled):
        inside = _value(term.term)
        return None if inside is None else term.factor * inside
    return None


def _absolutes(term: Term) -> int:
    if isinstance(term, Sum):
        return _absolutes(term.left) + _absolutes(term.right)
    if isinstance(term, Scaled | Absolute):
        return _absolutes(term.term) + isinstance(term, Absolute)
    return 0


def _mentions_every(term: Term) -> bool:
    if isinstance(term, Feature):
        return term.index == EVERY
    if isinstance(term, Sum):
        return _mentions_every(term.left) or _mentions_every(term.right)
    return isinstance(term, Scaled | Absolute) and _mentions_every(term.term)


def _instead(compare: Compare, feature: int) -> Compare:
    """The comparison with a feature in the place of `all`."""

    def put(term: Term) -> Term:
        if isinstance(term, Feature):
            return Feature(feature) if term.index == EVERY else term
        if isinstance(term, Sum):
            return Sum(put(term.left), put(term.right))
        if isinstance(term, Scaled):
            return Scaled(term.factor, put(term.term))
        return Absolute(put(term.term)) if isinstance(term, Absolute) else term

    return Compare(put(compare.left), compare.operator, put(compare.right))
