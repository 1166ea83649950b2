"""Arrays of numbers in a file of SQLite, as AISBench's load tests keep times (``…output_handler.db_utils``)."""

from __future__ import annotations

import io
import sqlite3
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors

CONNECTION_TIMEOUT = 30
"""Seconds that a write waits for another process."""


def init_db(db_path: Any) -> sqlite3.Connection:
    """Return a connection to a file, whose table is made where it is not there."""
    connection = sqlite3.connect(db_path, timeout=CONNECTION_TIMEOUT)
    columns = "id INTEGER PRIMARY KEY AUTOINCREMENT, arr_blob BLOB NOT NULL"
    connection.execute(f"CREATE TABLE IF NOT EXISTS numpy_store ({columns})")
    return connection


def save_numpy_to_db(conn: sqlite3.Connection, arr: Any, batch_size: int = 100) -> int:
    """Return the number under which an array is kept.

    Args:
        conn: The file.
        arr: The array.
        batch_size: After how many of them what was written becomes durable.

    Raises:
        FileOperationError: It cannot be written.
    """
    import numpy as np

    packed = io.BytesIO()
    np.save(packed, arr, allow_pickle=False)
    try:
        cursor = conn.execute("INSERT INTO numpy_store (arr_blob) VALUES (?)", (packed.getvalue(),))
        number = int(cursor.lastrowid or 0)
        if number % batch_size == 0:
            conn.commit()
    except sqlite3.Error as error:
        code = error_codes.ICLI_CODES.SQLITE_WRITE_ERROR  # type: ignore[attr-defined]
        raise errors.FileOperationError(code, f"an array cannot be kept: {error}") from error  # type: ignore[attr-defined]
    return number


def load_all_numpy_from_db(conn: sqlite3.Connection) -> dict[int, Any]:
    """Return all arrays of a file by their numbers."""
    import numpy as np

    rows = conn.execute("SELECT id, arr_blob FROM numpy_store").fetchall()
    return {number: np.load(io.BytesIO(packed), allow_pickle=False) for number, packed in rows}
