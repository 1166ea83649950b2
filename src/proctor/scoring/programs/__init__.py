"""Programs and queries that models wrote, run and compared."""
