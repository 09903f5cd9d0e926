"""A tree as a PLCopen XML project (TC6 2.01) with one function block in Structured Text."""

from collections.abc import Callable
from importlib.metadata import version
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from numpy.typing import NDArray

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export import structured_text_reader
from crisptree.export.structured_text import as_structured_text

NAMESPACE = "http://www.plcopen.org/xml/tc6_0201"
XHTML = "http://www.w3.org/1999/xhtml"
CREATED = "2000-01-01T00:00:00"
"""The format requires a time; a fixed one keeps the file a function of the policy."""


def as_plcopen(tree: CrispTree, name: str = "policy") -> str:
    """The text of a project file that PLC editors import."""
    block = as_structured_text(tree, name)
    scaling = '<scaling x="1" y="1"/>'
    return f"""\
<?xml version="1.0" encoding="utf-8"?>
<project xmlns="{NAMESPACE}" xmlns:xhtml="{XHTML}">
  <fileHeader companyName="crisptree" productName="crisptree" \
productVersion={quoteattr(version("crisptree"))} creationDateTime="{CREATED}"/>
  <contentHeader name={quoteattr(block.name)}>
    <Comment>{escape(" ".join(block.about))}</Comment>
    <coordinateInfo>
      <fbd>{scaling}</fbd>
      <ld>{scaling}</ld>
      <sfc>{scaling}</sfc>
    </coordinateInfo>
  </contentHeader>
  <types>
    <dataTypes/>
    <pous>
      <pou name={quoteattr(block.name)} pouType="functionBlock">
        <interface>
          <inputVars>
{_variables(block.inputs)}
          </inputVars>
          <outputVars>
{_variables(block.outputs)}
          </outputVars>
        </interface>
        <body>
          <ST><xhtml:p>{escape(block.body)}</xhtml:p></ST>
        </body>
      </pou>
    </pous>
  </types>
  <instances>
    <configurations/>
  </instances>
</project>
"""


def _variables(variables: tuple[tuple[str, str, str], ...]) -> str:
    lines = []
    for name, type_, what in variables:
        words = f"<documentation><xhtml:p>{escape(printable(what))}</xhtml:p></documentation>"
        lines.append(f"<variable name={quoteattr(name)}><type><{type_}/></type>{words}</variable>")
    return "\n".join(f"            {line}" for line in lines)


def decider(text: str) -> Callable[[NDArray], NDArray]:
    """The function block in a project file, read back."""
    names = {"": NAMESPACE, "xhtml": XHTML}
    pou = ElementTree.fromstring(text).find("types/pous/pou", names)
    assert pou is not None

    def variables(kind: str) -> list[tuple[str, str]]:
        found = pou.findall(f"interface/{kind}/variable", names)
        return [
            (each.attrib["name"], each.find("type", names)[0].tag.rpartition("}")[2])  # type: ignore[index]
            for each in found
        ]

    body = pou.findtext("body/ST/xhtml:p", "", names)
    inputs = [name for name, _ in variables("inputVars")]
    return structured_text_reader.read_body(body, inputs, variables("outputVars")).run
