"""A crisp tree as a program, a query, a table or a model of others. Checked before written."""

from crisptree.export.c_code import as_c as as_c
from crisptree.export.c_text import CSource as CSource
from crisptree.export.check import ExportError as ExportError
from crisptree.export.check import check as check
from crisptree.export.javascript_module import as_javascript as as_javascript
from crisptree.export.onnx_model import as_onnx as as_onnx
from crisptree.export.plcopen import as_plcopen as as_plcopen
from crisptree.export.python_function import as_python as as_python
from crisptree.export.rule_table import as_rules_csv as as_rules_csv
from crisptree.export.rule_table import as_rules_markdown as as_rules_markdown
from crisptree.export.rust_code import as_rust as as_rust
from crisptree.export.sklearn_model import as_sklearn as as_sklearn
from crisptree.export.sql_query import as_sql as as_sql
from crisptree.export.structured_text import as_structured_text as as_structured_text
from crisptree.export.targets import TARGETS as TARGETS
from crisptree.export.targets import Written as Written
from crisptree.export.targets import export as export
from crisptree.export.vectors import vectors as vectors
