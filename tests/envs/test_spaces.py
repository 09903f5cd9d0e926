import numpy as np
import pytest
from gymnasium import spaces
from helpers import LINE, TWO, Still, make_task

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Feature
from crisptree.envs.encoder import SpaceEncoder
from crisptree.envs.task import task_of, task_of_policy

FLAG_NAMES = [f"{name} is {k}" for name, n in (("floor", 6), ("room", 16)) for k in range(n)]


def refusal(seen: spaces.Space, done: spaces.Space = TWO) -> str:
    with pytest.raises(CrisptreeError) as caught:
        make_task(seen, done)
    message = str(caught.value)
    assert "\n" not in message
    return message


def features(seen: spaces.Space, **metadata) -> tuple[Feature, ...]:
    return make_task(seen, TWO, **metadata).features


def test_a_box_gives_numbers_with_their_bounds():
    box = spaces.Box(
        np.array([-1, -np.inf, -3.4e38], np.float32), np.array([2, np.inf, 3.4e38], np.float32)
    )
    assert features(box) == (Feature("x0", "number", -1.0, 2.0), Feature("x1"), Feature("x2"))


@pytest.mark.parametrize(
    ("shape", "names"),
    [((), ["x0"]), ((2,), ["x0", "x1"]), ((1, 2), ["observation[0][0]", "observation[0][1]"])],
)
def test_boxes_of_any_shape(shape, names):
    task = make_task(spaces.Box(-1, 1, shape, np.float64))
    assert list(task.feature_names) == names
    assert task.observe(np.full(shape, 0.5)).tolist() == [0.5] * len(names)
    assert task.observe(np.full(shape, 0.5)).dtype == np.float32


def test_whole_numbers_in_a_box_stay_numbers():
    assert features(spaces.Box(0, 1, (1,), np.uint8)) == (Feature("x0", "number", 0.0, 1.0),)


def test_a_discrete_of_few_values_becomes_flags():
    task = make_task(spaces.Discrete(3, start=5))
    assert task.features == tuple(
        Feature(f"observation is {k}", "flag", 0.0, 1.0) for k in (5, 6, 7)
    )
    assert task.observe(6).tolist() == [0, 1, 0]
    assert task.observe(np.int64(7)).tolist() == [0, 0, 1]


def test_a_discrete_of_two_values_is_one_flag():
    task = make_task(spaces.Discrete(2))
    assert task.features == (Feature("observation is 1", "flag", 0.0, 1.0),)
    assert task.observe(1).tolist() == [1]
    assert make_task(spaces.Discrete(2), feature_names=["door open"]).feature_names == (
        "door open",
    )


def test_a_discrete_in_between_is_a_number_and_flags():
    """Its space does not say whether it counts or names, so a tree may ask either."""
    task = make_task(spaces.Discrete(6, start=1), feature_names=["stock"])
    flags = tuple(Feature(f"stock is {k}", "flag", 0.0, 1.0) for k in range(1, 7))
    assert task.features == (Feature("stock", "category", 1.0, 6.0), *flags)
    assert task.observe(4).tolist() == [4, 0, 0, 0, 1, 0, 0]
    assert isinstance(task.encoder, SpaceEncoder)
    assert task.encoder.raw(task.observe_batch([4, 1])).tolist() == [4, 1]


def test_a_meaning_for_each_value_means_that_none_is_counted():
    seen = spaces.MultiDiscrete([6, 16])
    assert {feature.kind for feature in features(seen, feature_names=FLAG_NAMES)} == {"flag"}
    meanings = {"x0": list("abcdef"), "x1": [f"room {k}" for k in range(16)]}
    assert {feature.kind for feature in features(seen, categories=meanings)} == {"flag"}
    counted = features(seen, ordered=["x0", "x1"])
    assert [feature.kind for feature in counted] == ["category", "category"]


def test_a_policy_from_before_numbers_were_offered_still_plays():
    task = make_task(spaces.Discrete(6))
    old = CrispTree.from_nested(
        ("observation is 2", 0.5, 1, 0), task.feature_names[1:], task.action_names
    )
    seen = task_of_policy(old, task)
    assert seen.feature_names == old.feature_names
    assert seen.observe(2).tolist() == [0, 0, 1, 0, 0, 0]
    other = CrispTree.from_nested(("other", 0.5, 1, 0), ("other",), task.action_names)
    with pytest.raises(CrisptreeError, match=r"the policy has 1 features, '.*' has 7"):
        task_of_policy(other, task)


def test_a_discrete_of_many_values_is_an_ordered_number():
    task = make_task(spaces.Discrete(500))
    assert task.features == (Feature("observation", "category", 0.0, 499.0),)
    assert task.observe(328).tolist() == [328]


def test_categories_have_names():
    names = {
        "feature_names": ["passenger"],
        "categories": {"passenger": ["at R", "at G", "inside"]},
    }
    task = make_task(spaces.Discrete(3), **names)
    assert task.feature_names == ("passenger is at R", "passenger is at G", "passenger is inside")
    many = {"feature_names": ["day"], "categories": {"day": [f"day {k}" for k in range(31)]}}
    (day,) = features(spaces.Discrete(31), **many)
    assert (day.kind, day.categories[30]) == ("category", "day 30")


def test_categories_must_be_as_many_as_the_values():
    with pytest.raises(CrisptreeError, match="give 2 categories of 'passenger'; it has 3"):
        make_task(
            spaces.Discrete(3), feature_names=["passenger"], categories={"passenger": ["a", "b"]}
        )


def test_an_ordered_discrete_stays_a_number():
    (card,) = features(spaces.Discrete(11), feature_names=["card"], ordered=["card"])
    assert card == Feature("card", "category", 0.0, 10.0)


def test_a_number_that_is_0_or_1_can_be_named_a_flag():
    task = make_task(LINE, feature_names=["a", "b", "touch"], flags=["touch"])
    assert [feature.kind for feature in task.features] == ["number", "number", "flag"]


def test_the_features_themselves_can_be_named():
    """Where there are more features than numbers, the metadata may name either."""
    task = make_task(spaces.Discrete(3), feature_names=["low", "middle", "high"])
    assert task.feature_names == ("low", "middle", "high")
    assert task.observe(2).tolist() == [0, 0, 1]


def test_multi_discrete_and_multi_binary():
    task = make_task(spaces.MultiDiscrete([3, 2, 20]))
    assert task.feature_names == ("x0 is 0", "x0 is 1", "x0 is 2", "x1 is 1", "x2")
    assert task.observe(np.array([1, 1, 17])).tolist() == [0, 1, 0, 1, 17]
    task = make_task(spaces.MultiBinary((2, 2)))
    assert task.feature_names[2] == "observation[1][0]"
    assert {feature.kind for feature in task.features} == {"flag"}
    assert task.observe(np.array([[0, 1], [1, 0]], np.int8)).tolist() == [0, 1, 1, 0]


NESTED = spaces.Dict(
    {
        "position": spaces.Box(-1, 1, (2,), np.float32),
        "bag": spaces.Tuple((spaces.Discrete(2), spaces.MultiBinary(2))),
        "inner": spaces.Dict(
            {"key": spaces.Discrete(3), "speed": spaces.Box(0, 9, (), np.float64)}
        ),
    }
)


def test_dict_and_tuple_nested():
    task = make_task(NESTED)
    assert task.feature_names == (
        "bag[0] is 1",
        "bag[1][0]",
        "bag[1][1]",
        "inner.key is 0",
        "inner.key is 1",
        "inner.key is 2",
        "inner.speed",
        "position[0]",
        "position[1]",
    )
    seen = {
        "position": np.array([0.25, -0.5], np.float32),
        "bag": (1, np.array([0, 1], np.int8)),
        "inner": {"key": 2, "speed": np.array(3.5)},
    }
    assert task.observe(seen).tolist() == [1, 0, 1, 0, 0, 1, 3.5, 0.25, -0.5]
    assert task.observe_batch([seen, seen]).shape == (2, 9)
    top = make_task(spaces.Tuple((spaces.Discrete(20), LINE)))
    assert top.feature_names[:2] == ("observation[0]", "observation[1][0]")


def test_every_sample_can_be_observed():
    task, rng = make_task(NESTED), NESTED
    rng.seed(0)
    rows = task.observe_batch([NESTED.sample() for _ in range(20)])
    for feature, column in zip(task.features, rows.T, strict=True):
        if feature.kind == "flag":
            assert set(column.tolist()) <= {0.0, 1.0}
        assert feature.low is None or column.min() >= feature.low


@pytest.mark.parametrize(
    "seen",
    [spaces.Text(5), spaces.Sequence(LINE), spaces.Graph(LINE, TWO)],
    ids=lambda space: type(space).__name__,
)
def test_other_spaces_are_refused(seen):
    name = type(seen).__name__
    assert f"has {name} observations; crisptree takes Box" in refusal(seen)
    if not isinstance(seen, spaces.Text):
        assert f"has {name} observations in mission;" in refusal(spaces.Dict({"mission": seen}))


def test_text_beside_numbers_is_left_out():
    task = make_task(spaces.Dict({"mission": spaces.Text(9), "place": LINE}))
    assert isinstance(task.encoder, SpaceEncoder) and task.encoder.left_out == ("mission",)
    assert all(name.startswith("place") for name in task.feature_names)
    seen = {"mission": "go there", "place": LINE.low}
    assert task.observe(seen).tolist() == LINE.low.tolist()
    assert "no numbers in its observations" in refusal(spaces.Dict({"a": spaces.Text(9)}))


def test_pictures_are_refused():
    pixels = spaces.Box(0, 255, (96, 96, 3), np.uint8)
    assert "27,648 numbers an observation, as pictures have" in refusal(pixels)
    assert "27,649 numbers" in refusal(spaces.Dict({"image": pixels, "way": spaces.Discrete(4)}))


@pytest.mark.parametrize("seen", [spaces.Box(-1, 1, (0,), np.float32), spaces.Dict({})])
def test_nothing_to_decide_on(seen):
    assert "no numbers in its observations" in refusal(seen)


def observed(raw) -> str:
    with pytest.raises(CrisptreeError) as caught:
        task_of(lambda: Still()).observe(raw)
    assert "<lambda>' returned" in str(caught.value)
    return str(caught.value)


def test_observations_that_are_not_what_the_space_says():
    assert "of shape (2,); its space says (3,)" in observed(np.zeros(2))
    assert "None as its observation" in observed(None)
    assert "no array of numbers (str)" in observed("abc")
    assert "no array of numbers (dict)" in observed({"a": 1})
    assert "NaN or None in an observation (number 1)" in observed([0, np.nan, 0])
    assert "inf or a number beyond float32" in observed([0, 0, np.inf])
    assert "inf or a number beyond float32" in observed([0, 0, 1e39])
    assert task_of(lambda: Still()).observe([0, 0, 1e38]).tolist()[2] == np.float32(1e38)


def test_a_part_that_is_missing():
    with pytest.raises(CrisptreeError, match=r"an observation\['bag'\]\[0\] that is no array"):
        make_task(NESTED).observe({"position": np.zeros(2)})


@pytest.mark.parametrize(
    "seen",
    [
        LINE,
        spaces.Box(-1, 1, (2, 2), np.float64),
        spaces.Discrete(3, start=5),
        spaces.Discrete(2, start=-1),
        spaces.Discrete(99),
        spaces.MultiDiscrete([3, 2, 20]),
        spaces.MultiBinary((2, 2)),
    ],
    ids=str,
)
def test_features_lead_back_to_the_observation(seen):
    task = make_task(seen)
    seen.seed(0)
    samples = [seen.sample() for _ in range(12)]
    assert isinstance(task.encoder, SpaceEncoder)
    raw = task.encoder.raw(task.observe_batch(samples))
    np.testing.assert_array_equal(raw, np.asarray(samples).astype(np.float32))
    assert raw.dtype == seen.dtype


def test_the_parts_of_a_dict_lead_back():
    task = make_task(NESTED)
    samples = [NESTED.sample() for _ in range(5)]
    assert isinstance(task.encoder, SpaceEncoder)
    raw = task.encoder.raw(task.observe_batch(samples))
    assert raw["inner"]["key"].tolist() == [sample["inner"]["key"] for sample in samples]
    assert raw["bag"][0].tolist() == [sample["bag"][0] for sample in samples]
    np.testing.assert_array_equal(raw["position"], [sample["position"] for sample in samples])
