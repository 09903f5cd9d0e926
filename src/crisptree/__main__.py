"""`python -m crisptree` is the command line."""

from crisptree.cli import main

if __name__ == "__main__":
    main()
