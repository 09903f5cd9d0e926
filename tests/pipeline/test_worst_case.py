"""`--worst-case`: trials in a plant and in episodes, and the stage in a training."""

from dataclasses import replace

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from runs import read
from small import small_config

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crispen.config import WorstCaseConfig
from crisptree.envs.task import task_of
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import asked_config
from crisptree.pipeline.plan import plan
from crisptree.pipeline.plant_rollout import PlayedBy, scorer, ways
from crisptree.pipeline.train import train
from crisptree.pipeline.trials import EpisodeTrial, PlantTrial, plant_for
from crisptree.verify.plants.classic import CART_POLE, MOUNTAIN_CAR, PENDULUM
from crisptree.verify.plants.env import PlantEnv
from crisptree.verify.replay import environment, episode

SETTINGS = WorstCaseConfig(enabled=True, starts=32, hard=4, width=2, rounds=2)


def cart_pole(nested):
    return CrispTree.from_nested(nested, CART_POLE.feature_names, CART_POLE.actions.names)


FALLING = cart_pole(("pole angle", 0.0, "push right", "push left"))
STEADY = cart_pole(
    (
        "pole angular velocity",
        0.2,
        1,
        ("pole angular velocity", -0.2, ("pole angle", 0.0, 1, 0), 0),
    )
)


def test_scores_are_how_long_gymnasium_s_own_episodes_last():
    starts = np.random.default_rng(0).uniform(-0.05, 0.05, (6, 4))
    (found,) = scorer(CART_POLE, PlayedBy(400, 0.0, 0))([FALLING], starts)
    for start, score in zip(starts, found, strict=True):
        lasted = len(episode(FALLING, CART_POLE, start, 400)) - 1
        assert abs(score - (lasted - 400)) <= 2  # float32 drifts a little


def test_what_stands_is_scored_by_its_distance_from_the_limits():
    starts = np.random.default_rng(0).uniform(-0.05, 0.05, (6, 4))
    both = scorer(CART_POLE, PlayedBy(50, 0.0, 0))([STEADY, FALLING], starts)
    assert both.shape == (2, 6) and (both[0] > 0).all() and (both[0] < 1).all()


def test_pushes_come_in_an_adversary_s_ways():
    rng = np.random.default_rng(0)
    starts = jnp.asarray(rng.uniform(-0.05, 0.05, (200, 4)), jnp.float32)
    states = rng.normal(size=(2, 200, 4)).astype(np.float32)

    def drawn(seed, rows=tuple(range(200))):
        given = jnp.asarray(states[:, list(rows)].reshape(-1, 4))
        found = ways(CART_POLE, jax.random.key(seed), starts[jnp.array(rows)], given)
        return np.asarray(found).reshape(2, -1, 4)

    one, other = drawn(1), drawn(2)
    left_alone = ~one.any(axis=(0, 2))
    assert 70 < left_alone.sum() < 130 and np.allclose(np.abs(one[:, ~left_alone]), 0.1)
    # Some are pushed anywhere at each push, some always the same way, some as their states lie.
    anywhere = (one != other).any(axis=(0, 2))
    same = ~anywhere & ~left_alone & (one[0] == one[1]).all(axis=1)
    assert 10 < anywhere.sum() < 40 and 10 < same.sum() < 60
    # Whatever else is played with it, a start has its own pushes.
    assert (drawn(1, tuple(range(199, -1, -3))) == one[:, 199::-3]).all()


def test_pushes_grow_once_a_tree_stands_them():
    trial = PlantTrial(CART_POLE, replace(SETTINGS, push=0.1), np.random.default_rng(0), 0)
    levels = [trial.level]
    while trial.harder():
        levels.append(trial.level)
    assert levels[0] < 0.2 and levels == sorted(set(levels)) and levels[-1] == 1.0
    assert not PlantTrial(CART_POLE, SETTINGS, np.random.default_rng(0), 0).harder()


def test_where_there_is_a_goal_steps_count():
    tree = CrispTree.from_nested(
        ("velocity", 0.0, 2, 0), MOUNTAIN_CAR.feature_names, MOUNTAIN_CAR.actions.names
    )
    starts = np.array([[-0.5, 0.0], [-0.45, 0.0]])
    (found,) = scorer(MOUNTAIN_CAR, PlayedBy(200, 0.0, 0))([tree], starts)
    for start, score in zip(starts, found, strict=True):
        assert abs(score + len(episode(tree, MOUNTAIN_CAR, start, 200)) - 1) <= 1


def test_real_actions_and_linear_leaves():
    tree = CrispTree.from_nested(
        {"torque": (0.0, {"sin angle": -8.0, "angular velocity": -2.0})},
        PENDULUM.feature_names,
        actions=PENDULUM.actions,
    )
    start = np.array([0.3, -0.2])
    ((found,),) = scorer(PENDULUM, PlayedBy(30, 0.0, 0))([tree], start[None])
    env = environment(PENDULUM)
    env.reset(seed=0)
    PENDULUM.put_state(env, start)
    seen, earned = PENDULUM.observations(start[None])[0], 0.0
    for _ in range(30):
        seen, reward, *_ = env.step(tree.predict(seen)[0])
        earned += float(reward)
    assert found == pytest.approx(earned, rel=1e-4)


def test_the_falsifier_s_counterexamples_join():
    trial = PlantTrial(CART_POLE, SETTINGS, np.random.default_rng(0), 0)
    found = trial.counterexample(FALLING, np.inf)
    assert found is not None and (np.abs(found) <= 0.05).all()
    trial.more.append(found)
    assert (trial.starts(8)[0] == found).all()


def test_a_plant_that_is_the_environment():
    assert plant_for(task_of("CartPole-v1")) is CART_POLE
    assert plant_for(task_of(lambda: PlantEnv(MOUNTAIN_CAR))) is MOUNTAIN_CAR
    assert plant_for(task_of("Blackjack-v1")) is None
    assert plant_for(task_of("CartPole-v1", {"sutton_barto_reward": True})) is None


def test_seeds_where_no_start_can_be_chosen():
    task = task_of(lambda: gym.make("CartPole-v1"))
    trial = EpisodeTrial(task, 0, np.inf)
    starts = trial.starts(64)
    assert trial.scores([STEADY, FALLING], starts).shape == (2, len(starts))
    assert "can be chosen" in trial.in_words


def test_a_training_with_the_worst_start_in_mind(tmp_path):
    config = small_config(worst_case=SETTINGS)
    trained = train(config, task_of("CartPole-v1"), tmp_path / "run")
    (record,) = [s for s in trained.summary["stages"] if s["stage"] == "worst-case"]
    assert record["worst_start"] <= record["worst_case"]
    assert read(tmp_path / "run" / "config.json")["config"]["worst_case"]["enabled"]


def test_one_word_asks_for_it():
    assert asked_config(TrainConfig(), worst_case=True).worst_case.enabled
    names = [stage.name for stage in plan("direct", small_config(worst_case=SETTINGS))]
    assert names[-1] == "worst-case"
    assert "worst-case" not in [stage.name for stage in plan("direct", small_config())]


def test_the_paper_s_way_has_no_crisp_tree_to_choose():
    with pytest.raises(CrisptreeError, match="worst-case chooses crisp trees"):
        asked_config(TrainConfig(), paper=True, worst_case=True)
