import io

from crisptree.pipeline.progress import Lines, Prefixed, reporter


def test_a_pipe_gets_a_line_for_each_note():
    out = io.StringIO()
    report = Lines(out.write, every=1e9)
    report.advance("direct", 0.5, "return 3")
    report.note("  direct done")
    assert out.getvalue() == "  direct done\n"


def test_a_pipe_hears_a_heartbeat_while_a_stage_takes_long():
    out = io.StringIO()
    report = Lines(out.write, every=0.0)
    report.advance("direct", 0.5, "return 3")
    assert out.getvalue() == "  … direct 50% return 3\n"


def test_candidates_are_told_apart():
    out = io.StringIO()
    report = Prefixed(Lines(out.write, every=0.0), "1-mlp")
    report.note("search")
    report.advance("search", 1.0, "")
    assert out.getvalue() == "  1-mlp   search\n  … 1-mlp/search 100%\n"


def test_results_have_standard_output_to_themselves(capsys):
    with reporter() as report:
        report.note("a line")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "a line\n")
