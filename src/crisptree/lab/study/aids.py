"""Aids from policies and from files."""

from collections.abc import Mapping
from importlib.resources import as_file, files
from os import PathLike

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree, policy_file
from crisptree.lab.study.aid import KINDS, Aid, Kind
from crisptree.lab.study.mlp import FORMAT as MLP_FORMAT
from crisptree.lab.study.mlp import LinearMLP
from crisptree.lab.study.mlp_aid import MLPAid
from crisptree.lab.study.tree_aid import TreeAid
from crisptree.show.rule_list import as_rule_list


def make_aid(policy: CrispTree | LinearMLP, kind: Kind | None = None) -> Aid:
    """The aid for a policy: of the kind asked for, or the one its shape suggests."""
    if isinstance(policy, LinearMLP):
        if kind not in (None, "mlp"):
            raise CrisptreeError(f"an MLP cannot be drawn as a {kind}; its kind is mlp")
        return MLPAid(policy)
    listed = as_rule_list(policy)
    if kind == "mlp" or (kind == "list" and listed is None):
        why = "every comparison of a list leads to a leaf" if kind == "list" else "it is a tree"
        raise CrisptreeError(f"this policy cannot be drawn as a {kind}: {why}")
    if policy.n_leaves < 2:
        raise CrisptreeError("this policy always takes one action; there is nothing to ask")
    return TreeAid(policy, kind or ("tree" if listed is None else "list"))


def aid_from_dict(content: object, kind: Kind | None = None) -> Aid:
    """The aid a policy file's or an MLP file's object describes."""
    is_mlp = isinstance(content, Mapping) and content.get("format") == MLP_FORMAT
    return make_aid(LinearMLP.from_dict(content) if is_mlp else CrispTree.from_dict(content), kind)


def load_aid(path: str | PathLike[str], kind: Kind | None = None) -> Aid:
    """The aid in a policy file or an MLP file."""
    content = policy_file.read(path)
    try:
        return aid_from_dict(content, kind)
    except CrisptreeError as error:
        raise CrisptreeError(f"{path}: {error}") from None


def cartpole_aids() -> list[Aid]:
    """The aids that come with the package, all for CartPole: a tree, a rule list and an MLP."""
    folder = files("crisptree.lab.study") / "cartpole"
    found = []
    for kind in KINDS:
        with as_file(folder / f"{kind}.json") as path:
            found.append(load_aid(path, kind))
    return found
