"""The zoo: many environments of several suites, one procedure, no setting but the leaf limit."""
