from xml.etree import ElementTree

import numpy as np
import pytest
from export_trees import EVERY, HOSTILE, KINDS

from crisptree.export import as_plcopen, check
from crisptree.export.plcopen import NAMESPACE, XHTML, decider

# What version 2.01 of the format wants, element by element, in this order.
CHILDREN = {
    "project": ["fileHeader", "contentHeader", "types", "instances"],
    "contentHeader": ["Comment", "coordinateInfo"],
    "coordinateInfo": ["fbd", "ld", "sfc"],
    "types": ["dataTypes", "pous"],
    "pous": ["pou"],
    "pou": ["interface", "body"],
    "interface": ["inputVars", "outputVars"],
    "variable": ["type", "documentation"],
    "body": ["ST"],
    "instances": ["configurations"],
}
ATTRIBUTES = {
    "fileHeader": {"companyName", "productName", "productVersion", "creationDateTime"},
    "contentHeader": {"name"},
    "pou": {"name", "pouType"},
    "variable": {"name"},
    "scaling": {"x", "y"},
}


@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_the_function_block_decides_as_the_tree(tree):
    assert check(tree, decider(as_plcopen(tree)), np.float64, 1000) >= 1000


@pytest.mark.parametrize("tree", [HOSTILE, *KINDS.values()])
def test_the_structure(tree):
    root = ElementTree.fromstring(as_plcopen(tree, "pump"))
    for element in root.iter():
        namespace, _, name = element.tag[1:].partition("}")
        if namespace == XHTML:
            assert name == "p"
            continue
        assert namespace == NAMESPACE
        children = [child.tag.partition("}")[2] for child in element]
        assert children == CHILDREN.get(name, children)
        assert set(element.attrib) == ATTRIBUTES.get(name, set())
    names = {"": NAMESPACE}
    pou = root.find("types/pous/pou", names)
    assert pou is not None and pou.attrib == {"name": "pump", "pouType": "functionBlock"}
    types = {type_[0].tag.partition("}")[2] for type_ in pou.iterfind(".//type", names)}
    assert types <= {"LREAL", "DINT"}
    assert len(pou.findall("interface/inputVars/variable", names)) == tree.n_features
    assert len(pou.findall("interface/outputVars/variable", names)) == tree.actions.n_values


def test_names_stay_names():
    root = ElementTree.fromstring(as_plcopen(HOSTILE))
    said = [each.text for each in root.iterfind(f".//{{{NAMESPACE}}}documentation/{{{XHTML}}}p")]
    assert "угол ∠ 角度 \\u202e" in said
    assert "</script><script>alert(1)</script>" in said
