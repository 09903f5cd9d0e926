"""Words of a command line become an object of the command's dataclass."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import option, positional, repeated
from crisptree.commands.parser import parsed


@dataclass(frozen=True)
class Shared:
    """Options of several commands."""

    out: Path | None = None
    json: bool = False


@dataclass(frozen=True)
class Example:
    """One field of each kind."""

    policy: Annotated[str, positional("POLICY")]
    other: Annotated[str, positional("OTHER")] = "none"
    leaves: int | None = None
    rate: float = 0.5
    at: tuple[float, ...] = ()
    pair: tuple[int, str] = (1, "a")
    kind: Literal["tree", "list", 3] = "tree"
    both: Literal["a"] | Literal["b"] | None = None
    format: Annotated[str | None, option("FORMAT", name="as")] = None
    property: Annotated[tuple[str, ...], repeated("PROPERTY")] = ()
    replay: bool = True
    max_steps: int = 7
    shared: Shared = field(default_factory=Shared)


def read(text: str) -> Example:
    return parsed(Example, text.split(), "example")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("p", Example("p")),
        ("p q", Example("p", "q")),
        ("--leaves 4 p", Example("p", leaves=4)),
        ("p --leaves=4", Example("p", leaves=4)),
        ("p --leaves -4", Example("p", leaves=-4)),
        ("p --leaves 4 --leaves 5", Example("p", leaves=5)),
        ("p --rate 1e-3", Example("p", rate=0.001)),
        ("p --at -1 -.5 2e3 --rate 1", Example("p", at=(-1.0, -0.5, 2000.0), rate=1.0)),
        ("p --pair 2 b", Example("p", pair=(2, "b"))),
        ("p --kind 3", Example("p", kind=3)),
        ("p --both b", Example("p", both="b")),
        ("p --as svg", Example("p", format="svg")),
        ("p --as=--", Example("p", format="--")),
        ("--property a --property b p", Example("p", property=("a", "b"))),
        ("p --no-replay", Example("p", replay=False)),
        ("p --max-steps 1", Example("p", max_steps=1)),
        ("p --max_steps 1", Example("p", max_steps=1)),
        ("p --out o --json", Example("p", shared=Shared(Path("o"), True))),
        ("-", Example("-")),
    ],
)
def test_reads(text, wanted):
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "example needs POLICY"),
        ("p q r", "example does not know what to do with 'r'"),
        ("p --leaves", "--leaves needs a value"),
        ("p --leaves --json", "--leaves needs a value"),
        ("p --leaves x", "--leaves takes a whole number, not 'x'"),
        ("p --leaves None", "--leaves takes a whole number, not 'None'"),
        ("p --rate x", "--rate takes a number, not 'x'"),
        ("p --at 1 x", "--at takes a number, not 'x'"),
        ("p --pair 1", "--pair takes 2 values, not 1"),
        ("p --kind x", "--kind cannot be 'x'; it may be tree, list, 3"),
        ("p --both x", "--both cannot be 'x'; it may be a, b"),
        ("p --json=1", "--json takes no value"),
        ("p --replay", "example has no option --replay; did you mean --no-replay?"),
        ("p --leafs 1", "example has no option --leafs; did you mean --leaves?"),
        ("p -q", "example has no option -q"),
    ],
)
def test_says_what_is_wrong(text, said):
    with pytest.raises(CrisptreeError) as error:
        read(text)
    assert str(error.value) == f"{said}; crisptree example --help says more"


@dataclass(frozen=True)
class Inner:
    size: int | None = 2
    on: bool = False


@dataclass(frozen=True)
class Outer:
    seed: int = 0
    inner: Inner = field(default_factory=Inner)
    hidden: Inner = field(default_factory=Inner, metadata={"option": False})

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise CrisptreeError("seed must be at least 0")


def dotted(text: str, base: Outer) -> Outer:
    return parsed(Outer, text.split(), "example", base=base, is_dotted=True)


def test_dotted_names_change_what_is_there():
    base = Outer(seed=5, inner=Inner(3), hidden=Inner(9))
    assert dotted("", base) == base
    assert dotted("--inner.on True", base) == Outer(5, Inner(3, True), Inner(9))
    assert dotted("--inner.on true --inner.on false --seed 1", base) == Outer(1, Inner(3), Inner(9))
    assert dotted("--inner.size None", base) == Outer(5, Inner(None), Inner(9))
    with pytest.raises(CrisptreeError, match=r"has no option --hidden\.size"):
        dotted("--hidden.size 1", base)
    with pytest.raises(CrisptreeError, match=r"--inner\.on takes True or False, not 'x'"):
        dotted("--inner.on x", base)
    with pytest.raises(CrisptreeError, match=r"^seed must be at least 0$"):
        dotted("--seed -1", base)
