import numpy as np
import pytest

from crisptree.envs.task import task_of
from crisptree.learn.exact_model import exact_model
from crisptree.learn.long_run import Exactly, InTheLongRun, Standings


@pytest.mark.parametrize(
    ("env_id", "kind"),
    [("crisptree/FrozenLake4x4-v0", InTheLongRun), ("FrozenLake-v1", Exactly)],
)
def test_other_actions_in_a_few_states(env_id, kind):
    """One whose episodes may end at any step, one that may go on until the limit."""
    model = exact_model(task_of(env_id))
    assert model is not None
    rng, standings = np.random.default_rng(0), Standings(model)
    actions = rng.integers(model.n_actions, size=model.n_states)
    standing = standings.of(actions)
    assert isinstance(standing, kind)
    assert standing.mean == pytest.approx(model.mean_of(actions), rel=1e-3, abs=1e-6)
    assert standing.values == pytest.approx(model.values(actions), rel=1e-3, abs=1e-6)
    assert standing.visits == pytest.approx(model.visits(actions), rel=1e-3, abs=1e-4)
    for size in (0, 1, 5, model.n_states):
        rows = rng.permutation(model.n_states)[:size]
        changed = actions.copy()
        changed[rows] = rng.integers(model.n_actions, size=size)
        mean = standing.mean_with(rows, changed[rows])
        assert mean == pytest.approx(standings.of(changed).mean, rel=1e-9, abs=1e-12)
