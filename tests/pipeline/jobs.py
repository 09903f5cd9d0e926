"""Jobs for worker processes: imported there by their names."""

import os
import sys
import time

from crisptree.base.errors import CrisptreeError


def double(number, report):
    print("something on standard output")
    report.note("doubling")
    report.advance("stage", 0.5, "half")
    return {"twice": 2 * number}


def refuse(report):
    raise CrisptreeError("it cannot be done")


def crash(report):
    print("last words", file=sys.stderr, flush=True)
    os._exit(3)


def sleep(path, report):
    with open(path, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
