"""Every family of gymnasium is trained end to end; the last one, of pictures, is refused. So are
environments of the JAX suites, with all that races by default."""

import gymnasium
import numpy as np
import pytest

import crisptree
from crisptree.base.errors import CrisptreeError

FAMILIES = {
    spec.name: env_id
    for env_id, spec in gymnasium.registry.items()
    if spec.namespace is None and str(spec.entry_point).startswith("gymnasium.")
}
PICTURES = "CarRacing"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {PICTURES}))
def test_it_is_trained(name, tmp_path):
    if "mujoco" in str(gymnasium.registry[FAMILIES[name]].entry_point):
        pytest.importorskip("mujoco")
    given: dict[str, object] = {"candidates.beginnings": ["direct"]}
    if isinstance(gymnasium.make(FAMILIES[name]).action_space, gymnasium.spaces.Box):
        given["evolve.generations"] = 1
    trained = crisptree.train(
        FAMILIES[name],
        leaves=4,
        steps=1_000,
        episodes=2,
        out=tmp_path / "run",
        progress=False,
        overrides=given,
    )
    assert trained.tree is not None and trained.tree.n_leaves <= 4
    assert np.isfinite(trained.summary["crisp_return"])
    assert trained.summary["random_return"] is not None
    played = crisptree.CrispTree.load(tmp_path / "run" / "policy.json")
    assert played == trained.tree


@pytest.mark.parametrize(
    "env_id", ["gymnax:Catch-bsuite", "gymnax:Pendulum-v1", "gymnax:Reacher-misc", "brax:reacher"]
)
def test_an_environment_of_a_suite_is_trained(env_id, tmp_path):
    pytest.importorskip(env_id.partition(":")[0], reason="the suite is not installed")
    trained = crisptree.train(
        env_id, leaves=4, steps=1_000, episodes=2, out=tmp_path / "run", progress=False
    )
    assert trained.tree is not None and trained.tree.n_leaves <= 4
    assert np.isfinite(trained.summary["crisp_return"])


def test_pictures_are_refused(tmp_path):
    with pytest.raises(CrisptreeError, match="as pictures have"):
        crisptree.train(FAMILIES[PICTURES], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
