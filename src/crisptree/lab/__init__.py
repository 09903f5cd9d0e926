"""For those who reproduce the paper: its table, its mathematics, its user study."""
