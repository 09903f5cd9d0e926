"""Exact figures of environments that carry their model: no episodes, no chance."""

from dataclasses import dataclass

from crisptree.crisp import CrispTree
from crisptree.envs.policy import Policy
from crisptree.envs.task import Task
from crisptree.envs.transition_table import TransitionTable, transition_table
from crisptree.learn.value_iteration import NO_LIMIT, exact_returns, solve, start_distribution


@dataclass(frozen=True)
class ExactModel:
    task: Task
    table: TransitionTable

    def mean_return(self, policy: Policy | CrispTree) -> float:
        """The mean return of an episode, within the environment's time limit."""
        actions = policy.act(self.table.observations)
        horizon = self.task.max_steps or NO_LIMIT
        start = start_distribution(self.task, self.table)
        return float(start @ exact_returns(self.table, actions, horizon))

    def optimum(self) -> float:
        """The mean return of the best policy that value iteration finds."""
        return self.mean_return(solve(self.task))


def exact_model(task: Task) -> ExactModel | None:
    """The model that the environment carries, if it does."""
    table = transition_table(task)
    return None if table is None else ExactModel(task, table)
