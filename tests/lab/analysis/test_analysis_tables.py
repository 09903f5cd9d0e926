import io

from rich.console import Console

from crisptree.lab.analysis.analysis_tables import by_start, print_tables, statement, zero_list
from crisptree.lab.analysis.critical_points import Zero


def printed(analysis, width=80) -> str:
    out = io.StringIO()
    print_tables(analysis, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def test_the_papers_tables(papers):
    text = printed(papers)
    for words in ("2.5347", "2.4653", "1.4974", "Appendix A", "Appendix B", "Appendix C"):
        assert words in text
    assert "at φ = 2.5000" in text
    assert text.count("differs") == 11
    assert max(map(len, text.splitlines())) <= 80


def test_the_statement_says_where_the_extra_points_come_from(papers, longer):
    assert "they vanish when it is neither bootstrapped" in statement(papers).plain
    assert "remain under the standard handling" in statement(longer).plain


def test_a_long_chain_is_shortened(longer):
    text = printed(longer)
    assert "the others are in the JSON" in text
    assert "paper's print" not in text
    assert len(text.splitlines()) < 200


def test_marks_of_zeros():
    zeros = (
        Zero(1.0, "smooth", True),
        Zero(1.5, "jump", False),
        Zero(2.25, "plateau", True),
    )
    assert zero_list(zeros) == "1.0000  (1.5000|)  2.2500~"
    assert zero_list(()) == "none"
    many = tuple(Zero(float(i), "smooth", True) for i in range(12))
    assert zero_list(many).startswith("12:  0.0000  1.0000")
    assert zero_list(many).endswith("… 11.0000")


def test_rows_that_differ_in_the_start_alone_are_put_together():
    rows = [("a", 2, "x"), ("b", 2, "y"), ("a", 3, "x"), ("b", 3, "z")]
    assert list(by_start(rows)) == [("a", "2, 3", "x"), ("b", "2", "y"), ("b", "3", "z")]
