from crisptree.base.text import aligned, printable


def test_what_would_steer_a_terminal_is_spelled_out():
    assert printable("a\x1b[31m\r\n\x00\u202eb\ufffe") == r"a\x1b[31m\r\n\x00\u202eb\ufffe"
    assert printable("θ̇ of joint 1, 速度") == "θ̇ of joint 1, 速度"


def test_columns_are_as_wide_as_they_need_to_be():
    rows = [["", "a"], ["row", "1.0"]]
    assert aligned(rows) == "     a\nrow  1.0"
    assert aligned(rows, ruled=True) == "     a\n---  ---\nrow  1.0"
