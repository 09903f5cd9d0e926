"""The interpretability study: aids people read, a web questionnaire, its database, statistics."""

from crisptree.lab.study.aid import Aid as Aid
from crisptree.lab.study.aids import load_aid as load_aid
from crisptree.lab.study.aids import make_aid as make_aid
from crisptree.lab.study.mlp import LinearMLP as LinearMLP
from crisptree.lab.study.worksheet import as_worksheet as as_worksheet
