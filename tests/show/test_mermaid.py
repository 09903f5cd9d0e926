from sample_trees import AWKWARD, SMALL

from crisptree.show import as_mermaid


def test_a_tree():
    assert (
        as_mermaid(SMALL)
        == """\
flowchart TD
    n0["pole angular velocity > 0.242"]
    n0 -- yes --> n1
    n0 -- no --> n2
    n1(["push right"]):::action1
    n2(["push left"]):::action0
    classDef action0 fill:#0072B2,color:#ffffff
    classDef action1 fill:#E69F00,color:#1a1a1a
"""
    )


def test_awkward_names():
    drawn = as_mermaid(AWKWARD)
    assert 'n0["a #34;quoted#34; #60;b>#38;amp#59; | name#95;with#42;marks#42; #96;and' in drawn
    assert 'n1(["#92;x1b[2J#92;n"])' in drawn
