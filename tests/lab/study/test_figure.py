import xml.etree.ElementTree as ET

import numpy as np
import pytest

from crisptree.lab.study.analysis import analyse
from crisptree.lab.study.figure import draw
from crisptree.lab.study.simulate import Assumptions, simulate_study

ASSUMED = Assumptions((5.6, 5.3, 3.9), (8.0, 9.0, 15.0), (0.95, 0.95, 0.85))


def analysis(n):
    return analyse(
        simulate_study(ASSUMED, n, 5, 5, np.random.default_rng(0), ("tree", "list", "mlp"))
    )


def test_the_same_analysis_gives_the_same_bytes():
    for file_format in ("svg", "png"):
        assert draw(analysis(5), file_format) == draw(analysis(5), file_format)


@pytest.mark.parametrize("n", [1, 2, 15])
def test_it_names_the_aids_and_says_who_is_drawn(n):
    text = "".join(ET.fromstring(draw(analysis(n), "svg")).itertext())
    for word in ("decision tree", "rule list", "network", "SIMULATED", f"{n} simulated people"):
        assert word in text
    assert "seconds for 5 questions" in text
