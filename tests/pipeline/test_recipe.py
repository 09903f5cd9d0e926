import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.pipeline import recipe
from crisptree.pipeline.recipe import ladder, recipe_for


@given(st.integers(1, 2000), st.integers(2, 200), st.integers(2, 100))
def test_a_ladder_goes_down_to_the_budget(leaves, budget, race_below):
    sizes = ladder(leaves, budget, race_below)
    if leaves <= budget:
        assert sizes == []
        return
    every = [leaves, *sizes]
    assert sizes[-1] == budget
    assert all(after < before for before, after in itertools.pairwise(every))


@given(st.integers(8, 2000), st.integers(2, 100))
def test_no_step_is_a_big_cut(leaves, race_below):
    """Never under a half at once; where candidates race, never under three quarters."""
    every = [leaves, *ladder(leaves, 2, race_below)]
    for before, after in itertools.pairwise(every):
        assert after >= min(before - 1, before // 2)
        if before <= race_below:
            assert after >= min(before - 1, 0.75 * before)


def test_a_ladder_by_hand():
    assert ladder(8, 2, 44) == [7, 6, 5, 4, 3, 2]
    assert ladder(16, 4, 44) == [13, 11, 9, 8, 7, 6, 5, 4]
    assert ladder(16, 16, 44) == []


def test_every_environment_has_a_recipe():
    assert recipe_for("CartPole-v1") is recipe.CARTPOLE
    assert recipe_for("LunarLander-v3") is recipe.HOST
    assert recipe_for("nobody:Knows-v0") is recipe.HOST


@pytest.mark.parametrize("name", ["CARTPOLE", "WILDFIRE", "ZERGLINGS", "HOST"])
def test_stages_turn_crisper(name):
    """Refinements start and end steeper the later they are, on moments that stand still."""
    each = getattr(recipe, name)
    later = [each.first_refine, each.refine, each.polish]
    assert all(not config.normalise_observations for config in later)
    assert each.learning.normalise_observations
    starts = [config.steepness[0] for config in (each.learning, *later)]
    assert starts == sorted(starts)
    ends = [config.steepness[1] for config in later]
    assert ends == sorted(ends)
    # neither the teacher nor the oblique soft tree is annealed
    assert each.teacher.steepness is each.soft.steepness is None


def test_small_trees_are_refined_after_the_last_cut_too():
    assert recipe.HOST.refines_last_cut(16)
    assert not recipe.HOST.refines_last_cut(32)
    assert not recipe.TEAM.refines_last_cut(16)  # a polish follows


def test_several_tries_on_the_way_to_a_small_tree_where_cuts_hurt():
    sizes = ladder(118, 16, recipe.HOST.race_below)
    tries = {size: recipe.HOST.tries_at(size, 16, taught=True) for size in sizes}
    assert all(tries[size] == (2 if size <= 36 else 1) for size in sizes)
    assert {recipe.HOST.tries_at(size, 32, True) for size in ladder(118, 32, 90)} == {1}
    assert {recipe.HOST.tries_at(size, 16, taught=False) for size in sizes} == {1}


def test_a_small_tree_is_distilled_into_fewer_leaves():
    assert recipe.HOST.distilled(32, "tree") == recipe.HOST.distilled(16, "list") == 128
    assert recipe.HOST.distilled(16, "tree") == 64


def test_lists_end_steeper():
    config = recipe.HOST.refine
    assert recipe.HOST.for_shape(config, "tree") is config
    assert recipe.HOST.for_shape(config, "list").steepness == (15.0, 180.0)
    assert recipe.CARTPOLE.for_shape(config, "list").steepness == config.steepness
