"""The discrete tree: data, predict, simplify, rules, JSON. NumPy and the standard library only."""

from crisptree.crisp.rules import Condition as Condition
from crisptree.crisp.rules import Rule as Rule
from crisptree.crisp.tree import CrispTree as CrispTree
