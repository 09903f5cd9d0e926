"""The one exception a user's mistake raises."""


class CrisptreeError(ValueError):
    """A mistake that a user can correct.

    The message is one line that says what was wrong and what would be right. The command line
    prints it and exits with 2; from Python it is an ordinary `ValueError`.
    """
