"""A policy as a person sees it: a tree or rule list, or a network as a worksheet.

A person reads rounded numbers. So a drawing answers for the policy *as shown*, and says for which
states the rounding leaves no doubt; questions are asked about those alone. Both kinds of drawing
have the same members:

    kind, policy      what is drawn, and the policy with all its digits
    places(states)    where in the drawing each state ends; equal places are read alike
    actions(states)   the action a careful reader finds
    is_clear(states)  where no comparison is closer than the last digit of the numbers shown
    worked(state)     the way through the drawing for one state, as sentences
    how_to_read()     instructions for somebody who sees such a drawing for the first time
    svg(), text()     the drawing, and its content for people who hear the page
"""

from collections.abc import Mapping
from importlib.resources import as_file, files
from os import PathLike
from typing import Literal, get_args

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree, policy_file
from crisptree.lab.study.linear_mlp import FORMAT as MLP_FORMAT
from crisptree.lab.study.linear_mlp import LinearMLP
from crisptree.lab.study.mlp_drawing import MLPDrawing
from crisptree.lab.study.tree_drawing import TreeDrawing

Kind = Literal["tree", "list", "mlp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Drawing = TreeDrawing | MLPDrawing


def make_drawing(policy: CrispTree | LinearMLP, kind: Kind | None = None) -> Drawing:
    """The drawing of a policy: of the kind asked for, or the one its shape suggests."""
    if isinstance(policy, LinearMLP):
        if kind not in (None, "mlp"):
            raise CrisptreeError(f"an MLP cannot be drawn as a {kind}; its kind is mlp")
        return MLPDrawing(policy)
    if kind == "mlp":
        raise CrisptreeError("this policy cannot be drawn as a mlp: it is a tree")
    if kind == "list" and not policy.is_rule_list:
        raise CrisptreeError(
            "this policy cannot be drawn as a list: every comparison of a list leads to a leaf"
        )
    if policy.n_leaves < 2:
        raise CrisptreeError("this policy always takes one action; there is nothing to ask")
    return TreeDrawing(policy, kind or ("list" if policy.is_rule_list else "tree"))


def drawing_from_dict(content: object, kind: Kind | None = None) -> Drawing:
    """The drawing of the policy that a policy file's or an MLP file's object describes."""
    is_mlp = isinstance(content, Mapping) and content.get("format") == MLP_FORMAT
    policy = LinearMLP.from_dict(content) if is_mlp else CrispTree.from_dict(content)
    return make_drawing(policy, kind)


def load_drawing(path: str | PathLike[str], kind: Kind | None = None) -> Drawing:
    """The drawing of the policy in a policy file or an MLP file."""
    content = policy_file.read(path)
    try:
        return drawing_from_dict(content, kind)
    except CrisptreeError as error:
        raise CrisptreeError(f"{path}: {error}") from None


def cartpole_drawings() -> list[Drawing]:
    """The policies that come with the package, for CartPole: a tree, a rule list and an MLP."""
    directory = files("crisptree.lab.study") / "cartpole"
    drawings = []
    for kind in KINDS:
        with as_file(directory / f"{kind}.json") as path:
            drawings.append(load_drawing(path, kind))
    return drawings
