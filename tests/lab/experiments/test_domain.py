import dataclasses

import pytest
from made_records import CARTPOLE

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments import scripts
from crisptree.lab.experiments.cell import CRISPENED, IMITATORS, LEARNERS, UNTRAINED, cell_of
from crisptree.lab.experiments.domain import (
    BOX_DOMAINS,
    DOMAINS,
    FOLDER,
    domain_of_env,
    load_domain,
    slug,
)
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import load


@pytest.mark.parametrize("name", (*DOMAINS, *BOX_DOMAINS))
def test_a_domains_file_is_a_configuration_that_train_reads(name):
    domain = load_domain(name)
    assert load(FOLDER / f"{name}.json") == domain.config
    assert domain.config.steps is not None and domain.config.budget is None
    rows = {"soft-tree", "soft-list", "mlp", "crisp-tree", "crisp-list"}
    assert rows < set(domain.paper) if name in DOMAINS else not domain.paper


@pytest.mark.parametrize("name", BOX_DOMAINS)
def test_real_actions_have_no_numbers_of_their_own_but_steps(name):
    config = load_domain(name).config
    assert dataclasses.replace(config, env=TrainConfig().env, steps=None) == TrainConfig()


@pytest.mark.parametrize("name", (*DOMAINS, *BOX_DOMAINS))
def test_a_domain_has_a_script_and_a_cell_of_every_model(name):
    domain = load_domain(name)
    assert domain.script is not None and hasattr(scripts, domain.script.policy)
    for model in (*LEARNERS, *CRISPENED, *IMITATORS):
        for overrides in ({}, dict(domain.quick)):
            assert cell_of(domain, model, 4, 100, overrides).env == domain.env  # type: ignore[arg-type]
    for model in UNTRAINED:
        assert cell_of(domain, model, None, 100, {}).env == domain.env  # type: ignore[arg-type]


def test_no_file_is_left_out():
    assert {path.stem for path in FOLDER.glob("*.json")} == {*DOMAINS, *BOX_DOMAINS}


def test_an_environment_of_ones_own_is_trained_by_the_general_procedure():
    domain = domain_of_env("Mine-v0")
    config = dataclasses.replace(domain.config, env=TrainConfig().env, steps=None)
    assert config == TrainConfig() and domain.config.steps and domain.paper == {}


def test_a_configuration_with_a_budget_is_refused():
    with pytest.raises(CrisptreeError, match="steps, not minutes"):
        domain_of_env("Mine-v0", TrainConfig(budget=3.0))


def test_names_are_safe_as_files():
    assert slug("my mod:../Env/x") == "my-mod-..-env-x" and slug(CARTPOLE.env) == "cartpole-v1"
