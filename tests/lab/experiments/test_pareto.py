from hypothesis import given
from hypothesis import strategies as st
from made_records import ENV, MINE, STUMP, TALLER, made

from crisptree.lab.experiments.groups import groups_of
from crisptree.lab.experiments.pareto import Point, front_of, points_of, worth_it

GROUP = groups_of([made("crisp-tree", 2, (1.0,))])[0]
points = st.lists(
    st.builds(
        Point,
        st.just(GROUP),
        st.integers(1, 9).map(float),
        st.integers(0, 9).map(float),
        st.one_of(st.none(), st.floats(0, 3)),
    ),
    min_size=1,
    max_size=12,
)


@given(points)
def test_the_front_is_what_nothing_smaller_matches(every):
    front = front_of(every)
    for point in every:
        beaten = any(
            (o.leaves <= point.leaves and o.score > point.score)
            or (o.leaves < point.leaves and o.score >= point.score)
            for o in every
        )
        on_front = any((f.leaves, f.score) == (point.leaves, point.score) for f in front)
        assert on_front is not beaten


@given(points)
def test_what_is_worth_it_is_the_smallest_within_an_error_of_the_best(every):
    chosen, best = worth_it(every), max(p.score for p in every)
    assert chosen is not None
    errors = [f.error or 0.0 for f in front_of(every) if f.score == best]
    assert chosen.score >= best - max(*errors, chosen.error or 0.0)
    smaller = [p for p in front_of(every) if p.leaves < chosen.leaves]
    assert all(p.score < best - (p.error or 0.0) for p in smaller)


def test_only_crisp_models_of_the_environment_are_on_it():
    records = [
        made("mlp", 0, (9.0,)),
        made("crisp-tree", 8, (5.0,), tree=TALLER),
        made("crisp-tree", 2, (3.0,), tree=STUMP),
        made("crisp-tree", 2, (8.0,), domain=MINE),
    ]
    assert [(p.leaves, p.score) for p in points_of(groups_of(records), ENV)] == [(2, 3.0), (3, 5.0)]
    assert worth_it([]) is None
