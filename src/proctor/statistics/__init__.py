"""Statistics of decisions: noise at two levels, bets against a null, confidence sequences, power. Pure functions."""
