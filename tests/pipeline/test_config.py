import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import PPOConfig
from crisptree.pipeline.config import (
    CandidateConfig,
    DirectConfig,
    PaperConfig,
    PolicyConfig,
    SelectionConfig,
    TeacherConfig,
    TrainConfig,
)


@pytest.mark.parametrize(
    ("policy", "leaves", "width"),
    [
        (PolicyConfig(), 16, 64),
        (PolicyConfig("tree", 2), 2, 16),
        (PolicyConfig("tree", 32), 32, 128),
        (PolicyConfig("list", 4), 5, 20),
    ],
)
def test_trees_begin_four_times_as_wide_as_they_end(policy, leaves, width):
    config = TrainConfig(policy=policy)
    assert config.policy.leaves == leaves
    assert config.width == width


def test_a_given_width_counts_unless_it_is_below_what_is_asked_for():
    assert TrainConfig(direct=DirectConfig(width=40)).width == 40
    assert TrainConfig(direct=DirectConfig(width=4)).width == 16


def test_every_stage_shares_the_learner_and_has_its_own_rates():
    config = TrainConfig()
    for stage in ("direct", "refine", "polish", "mlp", "soft"):
        learning = config.ppo_for(stage)
        assert (learning.gamma, learning.n_envs) == (config.ppo.gamma, config.ppo.n_envs)
    assert config.ppo_for("direct").steepness == config.direct.steepness
    assert config.ppo_for("polish").steepness == config.refine.steepness
    assert config.ppo_for("mlp").steepness is None
    assert not config.ppo_for("refine").normalize_observations


def test_a_network_learns_more_from_each_trajectory_than_a_tree():
    config = TrainConfig()
    network, tree = config.ppo_for("mlp"), config.ppo_for("refine")
    assert (network.n_epochs, network.n_minibatches) == (8, 16)
    assert (tree.n_epochs, tree.n_minibatches) == (config.ppo.n_epochs, config.ppo.n_minibatches)


def test_minibatches_of_a_network_divide_the_steps():
    config = TrainConfig(ppo=PPOConfig(n_steps=24))
    assert config.ppo_for("mlp").n_minibatches == 8


def test_lists_are_as_steep_as_trees():
    config = TrainConfig(policy=PolicyConfig("list"))
    assert config.ppo_for("polish").steepness == config.refine.steepness


@pytest.mark.parametrize("stage", ["refine", "polish"])
def test_lines_are_refined_with_sharp_routing(stage):
    config = TrainConfig(policy=PolicyConfig(leaf="linear"))
    learning = config.ppo_for(stage)
    assert learning.steepness == (200.0, 200.0)
    assert learning.learning_rate == config.refine.linear_learning_rate
    assert TrainConfig().ppo_for(stage).learning_rate == config.refine.learning_rate


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"episodes": 0}, "episodes must be at least 1"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"seed": -1}, "seed must lie in"),
        ({"budget": 0.0}, "budget must be above 0"),
        ({"policy": PolicyConfig("tree", 1)}, r"leaves \(policy.size\) must be at least 2"),
        ({"policy": PolicyConfig(gains=0)}, "policy.gains must be at least 1"),
        ({"candidates": CandidateConfig(count=64)}, "at most 63"),
        ({"selection": SelectionConfig(scale=0.0)}, "selection.scale"),
        ({"paper": PaperConfig(algorithm="q")}, "goes with the paper's way"),
        ({"paper": PaperConfig(True, learning_rate=0.0)}, "learning_rate must be above 0"),
        (
            {"paper": PaperConfig(True), "candidates": CandidateConfig(("mlp",))},
            "starts from nothing",
        ),
        ({"start_from": "a", "teacher": TeacherConfig(policy="b")}, "exclude each other"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_in_one_line(wrong, says):
    with pytest.raises(CrisptreeError, match=says) as refused:
        TrainConfig(**wrong)
    assert "\n" not in str(refused.value)
