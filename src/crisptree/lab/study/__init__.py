"""The interpretability study: drawings people read, a web questionnaire, its database, tests."""

from crisptree.lab.study.drawing import load_drawing as load_drawing
from crisptree.lab.study.drawing import make_drawing as make_drawing
from crisptree.lab.study.linear_mlp import LinearMLP as LinearMLP
