"""The chain-MDP study of §5: how policy gradient and Q-learning move a tree's threshold φ."""

from crisptree.lab.analysis.analyse import Analysis as Analysis
from crisptree.lab.analysis.analyse import LearningPlan as LearningPlan
from crisptree.lab.analysis.analyse import analyse as analyse
from crisptree.lab.analysis.policy_gradient import policy_gradient as policy_gradient
from crisptree.lab.analysis.q_learning import HANDLINGS as HANDLINGS
from crisptree.lab.analysis.q_learning import TerminalHandling as TerminalHandling
from crisptree.lab.analysis.q_learning import q_learning as q_learning
from crisptree.lab.analysis.report import as_json as as_json
from crisptree.lab.analysis.setting import PAPER as PAPER
from crisptree.lab.analysis.setting import Setting as Setting
from crisptree.lab.analysis.tree import ValueLeaves as ValueLeaves
from crisptree.lab.analysis.update import Update as Update
from crisptree.lab.analysis.zeros import Zero as Zero
from crisptree.lab.analysis.zeros import find_zeros as find_zeros
from crisptree.lab.analysis.zeros import phi_grid as phi_grid
