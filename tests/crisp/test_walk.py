from hypothesis import given
from tree_strategies import EVERY_KIND, NESTED, tree_of, tree_with

from crisptree.crisp import Condition, CrispTree


@given(NESTED)
def test_every_node_once_parents_first(nested):
    tree = tree_of(nested)
    visits = list(tree.walk())
    assert tree.order == tuple(visit.node for visit in visits)
    assert sorted(tree.order) == list(range(tree.n_nodes))
    seen = {-1}
    for visit in visits:
        assert visit.parent in seen
        seen.add(visit.node)
        assert (visit.feature, visit.threshold, visit.if_true, visit.if_false) == tree.nodes[
            visit.node
        ]
        if visit.parent >= 0:
            children = tree.nodes[visit.parent][2:]
            assert children[0 if visit.branch else 1] == visit.node
    assert max(visit.depth for visit in visits) == tree.depth
    assert [visit.node for visit in tree.leaves()] == [rule.leaf for rule in tree.rules()]


@given(EVERY_KIND)
def test_the_conditions_are_the_rules(written):
    tree = tree_with(*written)
    for leaf, rule in zip(tree.leaves(), tree.rules(), strict=True):
        assert tuple(leaf.conditions.values()) == rule.conditions
        assert all(feature == each.feature for feature, each in leaf.conditions.items())
        assert (rule.action, rule.gains) == (tree.action_of(leaf.node), tree.gains[leaf.node])


def test_by_hand():
    root, above, below = tree_of((0, 5.0, 1, 2)).walk()
    assert (root.depth, root.parent, root.branch, dict(root.conditions)) == (0, -1, None, {})
    assert (above.depth, above.parent, above.branch) == (1, 0, True)
    assert dict(above.conditions) == {0: Condition(0, above=5.0)}
    assert dict(below.conditions) == {0: Condition(0, at_most=5.0)}
    assert above.is_leaf and below.is_leaf and not root.is_leaf


def test_what_nothing_can_reach():
    tree = tree_of((0, 5.0, (0, 3.0, 0, (1, 0.0, 1, 2)), 2))
    assert [visit.node for visit in tree.walk() if not visit.is_reachable] == [3, 4, 5]


def test_nodes_in_any_order():
    """A file may number its nodes as it likes."""
    tree = CrispTree.from_dict(
        {
            "format": "crisptree.policy",
            "version": 1,
            "tree": {
                "feature": [0, -1, -1, 0, -1],
                "threshold": [0.0, 0.0, 0.0, 1.0, 0.0],
                "if_true": [3, -1, -1, 2, -1],
                "if_false": [1, -1, -1, 4, -1],
                "action": [-1, 0, 1, -1, 2],
            },
            "feature_names": ["a"],
            "action_names": ["p", "q", "r"],
            "env_id": None,
            "training": {},
        }
    )
    assert tree.order == (0, 3, 2, 4, 1)
    assert [rule.action for rule in tree.rules()] == [1, 2, 0]
