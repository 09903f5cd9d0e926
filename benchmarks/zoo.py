"""The zoo into results/zoo and docs/zoo.md: what `crisptree zoo` runs, and what is not there yet.

python benchmarks/zoo.py                    # all of it, many hours
python benchmarks/zoo.py --only-report      # the page from the records that are there
"""

import sys

from crisptree.cli import main

if __name__ == "__main__":
    main(["zoo", "--out", "results/zoo", "--page", "docs/zoo.md", *sys.argv[1:]])
