"""The paper's table and sweeps: cells in a store, run anywhere, reported as tables and figures.

Nothing is imported here; `crisptree reproduce` and `crisptree sweep` start at once.
"""
