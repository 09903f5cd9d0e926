"""The discrete tree: data, predict, simplify, rules, JSON. NumPy and the standard library only."""

from crisptree.crisp.linear import Gain as Gain
from crisptree.crisp.rules import Rule as Rule
from crisptree.crisp.signature import Actions as Actions
from crisptree.crisp.signature import Feature as Feature
from crisptree.crisp.tree import CrispTree as CrispTree
from crisptree.crisp.walk import Condition as Condition
from crisptree.crisp.walk import Visit as Visit
