import xml.etree.ElementTree as ET

import numpy as np
import pytest

from crisptree.lab.study.simulation import Assumptions, simulate_study
from crisptree.lab.study.study_figure import draw
from crisptree.lab.study.study_results import analyse

ASSUMED = Assumptions((5.6, 5.3, 3.9), (8.0, 9.0, 15.0), (0.95, 0.95, 0.85))


def results(n):
    return analyse(simulate_study(ASSUMED, n, np.random.default_rng(0), ("tree", "list", "mlp")))


def test_the_same_results_gives_the_same_bytes():
    for file_format in ("svg", "png"):
        assert draw(results(5), file_format) == draw(results(5), file_format)


@pytest.mark.parametrize("n", [1, 2, 15])
def test_it_names_the_policies_and_says_who_is_drawn(n):
    text = "".join(ET.fromstring(draw(results(n), "svg")).itertext())
    for word in ("decision tree", "rule list", "network", "SIMULATED", f"{n} simulated people"):
        assert word in text
    assert "seconds for 5 questions" in text
