"""Differentiable models: trees over a topology, MLPs.

They take one observation, or many side by side as columns (features first).
"""

from crisptree.soft.axis_tree import AxisTree as AxisTree
from crisptree.soft.mlp import MLP as MLP
from crisptree.soft.mlp import baseline as baseline
from crisptree.soft.mlp import critic as critic
from crisptree.soft.topology import Topology as Topology
from crisptree.soft.topology import balanced as balanced
from crisptree.soft.topology import rule_list as rule_list
from crisptree.soft.tree import SoftTree as SoftTree
