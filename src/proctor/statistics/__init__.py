"""Numbers about numbers: intervals, tests, noise at two levels, bets against a null, gates, ranks. Pure functions."""
