"""Differentiable models: trees over a topology, and MLPs."""

from crisptree.soft.axis_tree import AxisTree as AxisTree
from crisptree.soft.mlp import MLP as MLP
from crisptree.soft.mlp import baseline as baseline
from crisptree.soft.mlp import critic as critic
from crisptree.soft.model import Model as Model
from crisptree.soft.model import TreeModel as TreeModel
from crisptree.soft.topology import Topology as Topology
from crisptree.soft.topology import balanced as balanced
from crisptree.soft.topology import rule_list as rule_list
from crisptree.soft.tree import SoftTree as SoftTree
