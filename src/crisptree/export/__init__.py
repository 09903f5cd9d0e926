"""A crisp tree as a program or a model of others, one way out a file. Checked before written."""

from crisptree.export.c_code import CSource as CSource
from crisptree.export.c_code import as_c as as_c
from crisptree.export.check import ExportError as ExportError
from crisptree.export.check import check as check
from crisptree.export.javascript_module import as_javascript as as_javascript
from crisptree.export.onnx_model import as_onnx as as_onnx
from crisptree.export.python_function import as_python as as_python
from crisptree.export.sklearn_classifier import as_sklearn as as_sklearn
from crisptree.export.ways import WAYS as WAYS
from crisptree.export.ways import Written as Written
from crisptree.export.ways import export as export
