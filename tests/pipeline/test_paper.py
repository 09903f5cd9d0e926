"""The paper's own way with real actions: an oblique soft tree, discretised at the end."""

import numpy as np
import pytest
from small import SHORT_PENDULUM, small_config

from crisptree.crispen.harden import argmax
from crisptree.envs.task import task_of
from crisptree.learn import checkpoint
from crisptree.pipeline.config import CandidateConfig, PaperConfig, PolicyConfig
from crisptree.pipeline.paper import fresh_learner
from crisptree.pipeline.train import train

TASK = task_of("Pendulum-v1", SHORT_PENDULUM)


@pytest.mark.parametrize(("kind", "leaf"), [("list", "constant"), ("tree", "linear")])
def test_real_actions_go_the_papers_way(tmp_path, kind, leaf):
    config = small_config(
        "Pendulum-v1",
        policy=PolicyConfig(kind, 3, leaf, 1),
        candidates=CandidateConfig(),
        paper=PaperConfig(enabled=True),
    )
    done = train(config, TASK, tmp_path / "run")
    assert done.tree is not None and done.tree.actions.kind == "box"
    assert np.isfinite(done.summary["soft_return"]) and np.isfinite(done.summary["crisp_return"])
    learner = checkpoint.load(
        tmp_path / "run" / "soft" / "learner.eqx", fresh_learner(config, TASK, config.seed)
    )
    expected = argmax(learner.actor, learner.observations, TASK)
    states = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    np.testing.assert_array_equal(done.tree.act(states), expected.act(states))
    gains = [len(terms) for terms in done.tree.gains]
    assert max(gains, default=0) == (1 if leaf == "linear" else 0)
