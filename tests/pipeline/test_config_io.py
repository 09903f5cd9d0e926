import json

import pytest
from small import small_config

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline import config_io
from crisptree.pipeline.config import TrainConfig


def test_a_configuration_comes_back_from_its_dict_and_its_file(tmp_path):
    config = small_config()
    assert config_io.from_dict(TrainConfig, config_io.to_dict(config)) == config
    config_io.save(config, tmp_path / "config.json")
    assert config_io.load(tmp_path / "config.json") == config


def test_a_runs_own_config_file_can_be_given(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"config": config_io.to_dict(small_config()), "config_hash": "x"}))
    assert config_io.load(path) == small_config()


def test_fields_that_are_left_out_keep_their_defaults():
    config = config_io.from_dict(TrainConfig, {"ppo": {"gamma": 0.9}, "seed": 4})
    assert config.ppo.gamma == 0.9
    assert config.ppo.n_envs == TrainConfig().ppo.n_envs
    assert config.seed == 4


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"gama": 1}, "config has no field 'gama'"),
        ({"ppo": {"gama": 1}}, r"config.ppo has no field 'gama'; did you mean 'gamma'\?"),
        ({"ppo": 3}, "config.ppo must be an object"),
        ({"ppo": {"gamma": "high"}}, "config.ppo.gamma must be a number, not 'high'"),
        ({"ppo": {"n_envs": 1.5}}, "config.ppo.n_envs must be a whole number, not 1.5"),
        ({"seed": True}, "config.seed must be a whole number"),
        ({"policy": {"kind": "bush"}}, "it may be tree, list, mlp"),
        ({"direct": {"steepness": [1.0]}}, "must have 2 values, not 1"),
        ({"prune": {"rounds": 3}}, "must be a list"),
        ({"env": {"kwargs": []}}, "config.env.kwargs must be an object"),
        ([], "must be an object"),
    ],
    ids=str,
)
def test_an_error_names_the_field(content, says):
    with pytest.raises(CrisptreeError, match=says):
        config_io.from_dict(TrainConfig, content)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\x00", '{"seed": 1e999}'])
def test_a_damaged_file_is_one_line(tmp_path, text):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(CrisptreeError) as refused:
        config_io.load(tmp_path / "c.json")
    assert "\n" not in str(refused.value)


def test_the_hash_names_what_a_run_depends_on():
    config = small_config()
    same = config_io.with_overrides(config, {"candidates.workers": 7})
    other = config_io.with_overrides(config, {"ppo.gamma": 0.9})
    assert config_io.config_hash(config) == config_io.config_hash(same)
    assert config_io.config_hash(config) != config_io.config_hash(other)


def test_overrides_go_by_dotted_names():
    config = config_io.with_overrides(TrainConfig(), {"ppo.gamma": 0.9, "env.id": "A-v0"})
    assert (config.ppo.gamma, config.env.id) == (0.9, "A-v0")
    assert config_io.differences(config) == {"ppo.gamma": 0.9, "env.id": "A-v0"}
    with pytest.raises(CrisptreeError, match="no field"):
        config_io.with_overrides(TrainConfig(), {"nothing.here": 1})


def test_the_command_line_says_the_same():
    config = config_io.with_overrides(
        TrainConfig(),
        {
            "env.id": "CartPole-v1",
            "env.kwargs": {"sutton_barto_reward": True},
            "policy.size": 4,
            "ppo.gamma": 0.9,
            "prune.rounds": [3, 4],
            "start_from": "an expert.rules",
        },
    )
    assert config_io.command(config) == (
        "crisptree train CartPole-v1 --leaves 4 --env.kwargs '{\"sutton_barto_reward\": true}' "
        "--start-from 'an expert.rules' --ppo.gamma 0.9 --prune.rounds 3 4"
    )
