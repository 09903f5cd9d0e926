"""C in whole numbers must give what the policy gives on the grid."""

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.export.check import ExportError, compare
from crisptree.export.expected import expected
from crisptree.export.fixed_point import FixedPoint, decide, values_of
from crisptree.export.fixed_vectors import grid_vectors, random_points
from crisptree.export.programs import Decider


def check_fixed(tree: CrispTree, fixed: FixedPoint, run: Decider, count: int) -> int:
    """On how many points of the grid `run` gives what it must; a single difference raises.

    The numbers are those of the policy in whole numbers, to the last bit. These are the policy's
    own choices; real vectors are as near as the header says.
    """
    points = np.concatenate([random_points(fixed, count), np.array(grid_vectors(fixed))])
    found = run(points.astype(f"int{fixed.bits}")).astype(np.int64)
    wanted = decide(fixed, points)
    compare(points, found, wanted)
    policy = expected(tree, values_of(fixed, points))
    if tree.actions.kind != "box":
        compare(points, wanted, policy)
        return len(points)
    off = np.abs(np.ldexp(wanted.astype(np.float64), -np.array(fixed.action_shifts)) - policy)
    if (off > fixed.tolerances).any():
        at = int(np.argmax((off > fixed.tolerances).any(axis=1)))
        raise ExportError(
            f"for {points[at].tolist()} the export is {off[at].tolist()} off; "
            f"its header says at most {list(fixed.tolerances)}"
        )
    return len(points)
