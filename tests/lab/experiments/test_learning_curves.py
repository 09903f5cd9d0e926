import pytest

from crisptree.lab.experiments.learning_curves import curve_of_seed, curve_of_stages, thinned


def line(step, value, episodes=1.0, stage="soft", **more):
    return {"stage": stage, "step": step, "return": value, "episodes": episodes, **more}


def test_seeds_side_by_side_are_told_apart():
    lines = [line(s, 10.0 * s + i, start=i) for s in (1, 2) for i in (0, 1)]
    assert curve_of_seed(lines, 1) == ((1.0, 11.0), (2.0, 21.0))


def test_a_seed_alone_has_no_number():
    assert curve_of_seed([line(1, 2.0)], 0) == ((1.0, 2.0),)


def test_updates_without_an_ended_episode_are_left_out():
    assert curve_of_seed([line(1, None, 0.0), line(2, 4.0)], 0) == ((2.0, 4.0),)


def test_stages_follow_one_another():
    lines = [line(5, 1.0), line(10, 2.0), line(5, 3.0, stage="refine-4")]
    again = [line(5, 4.0, stage="refine-4")]
    assert curve_of_stages([*lines, line(5, 9.0, stage="polish")]) == (
        (5.0, 1.0),
        (10.0, 2.0),
        (15.0, 3.0),
        (20.0, 9.0),
    )
    assert curve_of_stages(again) == ((5.0, 4.0),)


def test_thinning_keeps_the_mean_over_episodes():
    points = [(float(i), float(i), 1.0 + i % 3) for i in range(1000)]
    curve = thinned(points, most=10)
    assert len(curve) == 10 and [step for step, _ in curve] == sorted(s for s, _ in curve)
    total = sum(value * weight for _, value, weight in points[:100])
    assert curve[0][1] == pytest.approx(total / sum(w for *_, w in points[:100]), abs=1e-3)


def test_nothing_is_nothing():
    assert thinned([]) == () and thinned([(1.0, 0.0, 0.0)]) == ()
