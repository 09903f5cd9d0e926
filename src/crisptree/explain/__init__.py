"""Reading aids that play: recorded episodes, importance, comparison, counterfactuals. No JAX."""

from crisptree.explain.compare import Difference as Difference
from crisptree.explain.compare import Region as Region
from crisptree.explain.compare import compare as compare
from crisptree.explain.counterfactual import Change as Change
from crisptree.explain.counterfactual import counterfactuals as counterfactuals
from crisptree.explain.importance import Importance as Importance
from crisptree.explain.importance import importance as importance
from crisptree.explain.record import record as record
from crisptree.explain.visited import Visited as Visited
from crisptree.explain.visited import reporting_seeds as reporting_seeds
from crisptree.explain.visited import visited as visited
