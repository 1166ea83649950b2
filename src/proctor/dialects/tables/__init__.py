"""Tables as exams: CSV, TSV, JSON lines and parquet files, each row a question."""
