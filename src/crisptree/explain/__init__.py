"""Reading aids that play: recorded episodes, importance, differences, counterfactuals. No JAX."""

from crisptree.explain.counterfactuals import Change as Change
from crisptree.explain.counterfactuals import counterfactuals as counterfactuals
from crisptree.explain.differences import Difference as Difference
from crisptree.explain.differences import Region as Region
from crisptree.explain.differences import compare as compare
from crisptree.explain.episodes import Visited as Visited
from crisptree.explain.episodes import reporting_seeds as reporting_seeds
from crisptree.explain.episodes import visited as visited
from crisptree.explain.importance import Importance as Importance
from crisptree.explain.importance import importance as importance
from crisptree.explain.recorder import record as record
