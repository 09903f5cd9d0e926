"""The chain-MDP study of §5: how policy gradient and Q-learning move a tree's threshold φ."""

from crisptree.analysis.analyse import Analysis as Analysis
from crisptree.analysis.analyse import LearningPlan as LearningPlan
from crisptree.analysis.analyse import analyse as analyse
from crisptree.analysis.policy_gradient import policy_gradient as policy_gradient
from crisptree.analysis.q_learning import HANDLINGS as HANDLINGS
from crisptree.analysis.q_learning import TerminalHandling as TerminalHandling
from crisptree.analysis.q_learning import q_learning as q_learning
from crisptree.analysis.report import as_json as as_json
from crisptree.analysis.setting import PAPER as PAPER
from crisptree.analysis.setting import Setting as Setting
from crisptree.analysis.tree import ValueLeaves as ValueLeaves
from crisptree.analysis.update import Update as Update
from crisptree.analysis.zeros import Zero as Zero
from crisptree.analysis.zeros import find_zeros as find_zeros
from crisptree.analysis.zeros import phi_grid as phi_grid
