"""The chain-MDP study of §5: how policy gradient and Q-learning move a tree's threshold φ."""

from crisptree.lab.analysis.chain_analysis import Analysis as Analysis
from crisptree.lab.analysis.chain_analysis import LearningPlan as LearningPlan
from crisptree.lab.analysis.chain_analysis import analyse as analyse
from crisptree.lab.analysis.chain_analysis import as_json as as_json
from crisptree.lab.analysis.chain_setting import PAPER as PAPER
from crisptree.lab.analysis.chain_setting import Setting as Setting
from crisptree.lab.analysis.chain_tree import ValueLeaves as ValueLeaves
from crisptree.lab.analysis.critical_points import Zero as Zero
from crisptree.lab.analysis.critical_points import find_zeros as find_zeros
from crisptree.lab.analysis.critical_points import phi_grid as phi_grid
from crisptree.lab.analysis.exact_policy_gradient import policy_gradient as policy_gradient
from crisptree.lab.analysis.exact_q_learning import HANDLINGS as HANDLINGS
from crisptree.lab.analysis.exact_q_learning import TerminalHandling as TerminalHandling
from crisptree.lab.analysis.exact_q_learning import q_learning as q_learning
from crisptree.lab.analysis.update_rule import Update as Update
