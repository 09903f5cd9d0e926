import numpy as np

from crisptree.envs.paint import HEADER, Painting

WHITE, RED, BLUE = (255, 255, 255), (200, 0, 0), (0, 0, 200)


def test_places_and_colours():
    painting = Painting((0, 0), (100, 50), pixels_per_unit=2, background=WHITE)
    painting.discs([(20, 40)], 5, RED)
    painting.line((60, 0), (60, 50), BLUE, 4)
    painting.header("hello", RED, BLUE)
    picture = painting.picture()
    assert picture.shape == (50 * 2 + HEADER, 200, 3)
    np.testing.assert_array_equal(picture[HEADER + 20, 40], RED)  # y is up
    np.testing.assert_array_equal(picture[HEADER + 80, 40], WHITE)
    np.testing.assert_array_equal(picture[HEADER + 50, 120], BLUE)
    np.testing.assert_array_equal(picture[2, 198], BLUE)


def test_a_gauge_is_as_full_as_its_share():
    painting = Painting((0, 0), (20, 20), pixels_per_unit=4, background=WHITE)
    painting.bar((10, 10), 10, 2, 0.5)
    row = painting.picture()[HEADER + 40]
    green = row[:, 1] > 60
    assert green[22:38].all() and not green[44:58].any()


def test_see_through_discs_do_not_add_up():
    painting = Painting((0, 0), (20, 20), pixels_per_unit=2, background=WHITE)
    painting.discs([(10, 10), (10, 10), (10, 10)], 4, (0, 0, 0, 128))
    assert 120 < painting.picture()[HEADER + 20, 20, 0] < 134
