"""A tree as an IEC 61131-3 function block in Structured Text.

Features are inputs (LREAL), the action is an output: one DINT, a DINT for each part, or an LREAL
for each dimension. The body is one IF … ELSIF … ELSE … END_IF without loops, calls or returns.
"""

from typing import NamedTuple

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.branches import Chain, chain
from crisptree.export.identifiers import identifiers
from crisptree.export.leaves import (
    asked_text,
    in_words,
    leaf_texts,
    linear_dimensions,
    observed_names,
    sum_text,
)

# Words that IEC 61131-3 keeps for itself, and names of its types and standard functions.
_WORDS = """
    abs acos action add and any array asin at atan bcd_to_int begin bool by byte cal case
    class concat configuration constant continue cos ct ctd ctu ctud date delete div do dint
    dt dword else elsif en end eno eq exit exp expt extends false f_edge f_trig final find for
    from function function_block ge gt if implements in initial_step insert int interface
    internal ld le left len limit lint ln log lower lreal lt lword max method mid min mod move
    mul mux namespace ne non_retain not null of on or override pou private program protected
    public r r1 read_only read_write real ref reference repeat replace resource ret retain
    return right rol ror round rs r_edge r_trig s s1 sel sema shl shr sin single sint sqrt sr
    st step string struct sub super tan task test then this time tod to tof ton tp transition
    true trunc type udint uint ulint until upper using usint var var_access var_config
    var_external var_global var_in_out var_input var_output var_temp while with word wstring
    xor
"""
RESERVED = frozenset(_WORDS.split())


class Block(NamedTuple):
    """A function block: its name, its variables as (name, type, what it is), its body."""

    name: str
    inputs: tuple[tuple[str, str, str], ...]
    outputs: tuple[tuple[str, str, str], ...]
    body: str
    about: tuple[str, ...]

    @property
    def text(self) -> str:
        """The block as a file of Structured Text."""
        lines = [comment(line) for line in self.about]
        lines.append(f"FUNCTION_BLOCK {self.name}")
        for kind, variables in (("VAR_INPUT", self.inputs), ("VAR_OUTPUT", self.outputs)):
            lines.append(kind)
            lines += [f"    {name} : {type_}; {comment(what)}" for name, type_, what in variables]
            lines.append("END_VAR")
        return "\n".join(lines) + f"\n\n{self.body}\nEND_FUNCTION_BLOCK\n"


def as_structured_text(tree: CrispTree, name: str = "policy") -> Block:
    """The function block; its name and those of its variables are made of the policy's names."""
    block = identifiers([name], "policy", RESERVED)[0]
    inputs = identifiers(observed_names(tree), "x", RESERVED | {block})
    taken = RESERVED | {block, *inputs}
    if tree.actions.kind == "discrete":
        outputs_ = identifiers(["choice"], "choice", taken)
        about_outputs = [f"number of the action: {_numbered(tree.action_names, tree, 0)}"]
    else:
        outputs_ = identifiers(tree.action_names, "y", taken)
        about_outputs = [
            f"{name}: {_numbered(tree.actions.choices[at], tree, at)}"
            if tree.actions.kind == "multi_discrete"
            else f"{name}, {tree.actions.low[at]!r} to {tree.actions.high[at]!r}"
            for at, name in enumerate(tree.action_names)
        ]
    type_ = "LREAL" if tree.actions.kind == "box" else "DINT"
    return Block(
        block,
        tuple((each, "LREAL", of) for each, of in zip(inputs, observed_names(tree), strict=True)),
        tuple((each, type_, of) for each, of in zip(outputs_, about_outputs, strict=True)),
        "\n".join(_body(tree, inputs, outputs_)),
        about(tree),
    )


def _numbered(names: tuple[str, ...], tree: CrispTree, part: int) -> str:
    first = tree.actions.start[part] if tree.actions.start else 0
    return ", ".join(f"{at} {name}" for at, name in enumerate(names, first))


def _body(tree: CrispTree, inputs: tuple[str, ...], outputs_: tuple[str, ...]) -> list[str]:
    texts = leaf_texts(
        tree, real, lambda leaf, at: sum_text(tree, leaf, at, real, inputs.__getitem__)
    )

    def leaf(node: int, indent: str) -> list[str]:
        pairs = zip(outputs_, texts[node], strict=True)
        lines = [f"{indent}{name} := {value};" for name, value in pairs]
        if tree.actions.kind != "box":
            lines[0] += f" {comment(in_words(tree, node))}"
        return lines

    def block(part: int | Chain, indent: str) -> list[str]:
        if isinstance(part, int):
            return leaf(part, indent)
        if not part.cases:
            return leaf(part.otherwise, indent)
        lines = []
        for case in part.cases:
            feature, threshold, _, _ = tree.nodes[case.node]
            asked = asked_text(tree, feature, real, inputs.__getitem__)
            comparison = f"{asked} > {real(threshold)}"
            condition = comparison if case.answer else f"NOT ({comparison})"
            lines.append(f"{indent}{'ELSIF' if lines else 'IF'} {condition} THEN")
            lines += block(case.then, indent + "    ")
        lines += [f"{indent}ELSE", *leaf(part.otherwise, indent + "    "), f"{indent}END_IF;"]
        return lines

    lines = block(chain(tree), "")
    for at in linear_dimensions(tree):
        name, low, high = outputs_[at], real(tree.actions.low[at]), real(tree.actions.high[at])
        lines += [
            f"IF NOT ({name} > {low}) THEN",
            f"    {name} := {low};",
            f"ELSIF NOT ({name} < {high}) THEN",
            f"    {name} := {high};",
            "END_IF;",
        ]
    return lines


def real(value: int | float) -> str:
    """A number as IEC 61131-3 writes it: digits on both sides of the point, `E` for exponents."""
    text = repr(value)
    if isinstance(value, int):
        return text
    mantissa, mark, exponent = text.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + (f"E{exponent}" if mark else "")


def comment(text: str) -> str:
    """A comment in ASCII that ends where it should."""
    plain = printable(text).encode("ascii", "backslashreplace").decode()
    return f"(* {plain.replace('(*', '( *').replace('*)', '* )')} *)"
