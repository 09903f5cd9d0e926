from pathlib import Path

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import QUICK_MINUTES, asked_config, check_named, differences


def asked(**settings):
    return differences(asked_config(TrainConfig(), **settings))


def test_nothing_asked_changes_nothing():
    assert asked() == {}


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        ({"leaves": 4}, {"policy.size": 4}),
        ({"rules": 4}, {"policy.kind": "list", "policy.size": 4}),
        ({"mlp": 0}, {"policy.kind": "mlp", "policy.size": 0}),
        ({"quick": True}, {"budget": QUICK_MINUTES}),
        ({"direct": True}, {"candidates.beginnings": ["direct"]}),
        ({"teacher": "dqn"}, {"candidates.beginnings": ["dqn"]}),
        ({"teacher": "a.zip"}, {"teacher.policy": "a.zip"}),
        ({"paper": True}, {"paper.enabled": True}),
        ({"overrides": {"ppo.gamma": 0.5}}, {"ppo.gamma": 0.5}),
    ],
    ids=str,
)
def test_short_settings(settings, changes):
    assert asked(**settings) == changes


def test_a_budget_replaces_steps_and_the_other_way_round():
    base = TrainConfig(steps=100)
    assert asked_config(base, budget=2.0).steps is None
    assert asked_config(TrainConfig(budget=2.0), steps=7).budget is None


@pytest.mark.parametrize(
    "settings",
    [
        {"leaves": 2, "rules": 2},
        {"direct": True, "teacher": "mlp"},
        {"paper": True, "teacher": "mlp"},
        {"teacher": "mlp", "start_from": "a"},
        {"quick": True, "budget": 1.0},
        {"steps": 5, "budget": 1.0},
    ],
    ids=str,
)
def test_contradictions_are_refused(settings):
    with pytest.raises(CrisptreeError):
        asked(**settings)


@pytest.mark.parametrize(
    "names",
    [{"env.features": "m:f"}, {"teacher.policy": "m:f"}, {"teacher.policy": "m.zip"}],
    ids=str,
)
def test_a_file_names_code_only_if_the_caller_does(names):
    config = asked_config(TrainConfig(), overrides=names)
    check_named(config, tuple(names.values()), Path("c.json"))
    with pytest.raises(CrisptreeError, match=r"c.json names the code 'm.*if you trust it, say --"):
        check_named(config, (None, "m:other"), Path("c.json"))


def test_a_teacher_s_policy_file_is_no_code():
    check_named(asked_config(TrainConfig(), teacher="p.json"), (), Path("c.json"))
