"""Where AISBench's processes leave counts for each other (``ais_bench.benchmark.utils.config.message_constants``).

Nothing here shares memory; programs that read these names find the layout that ``ais_bench`` 3.1 has.
"""

from __future__ import annotations

import struct
from types import SimpleNamespace

_COUNTED = ("STATUS", "POST", "RECV", "FAIL", "FINISH", "CASE_FINISH")
FMT = f"{len(_COUNTED)}I"
FIELDS = dict.fromkeys(_COUNTED, "I")
MESSAGE_TYPE_NUM = len(_COUNTED) - 1
"""Kinds of messages that a request leaves."""
MESSAGE_SIZE = struct.calcsize(FMT)
STATUS_REPORT_INTERVAL = 1
WAIT_FLAG = 2
SYNC_MAIN_PROCESS_INTERVAL = 0.1
_WIDTH = struct.calcsize("I")
offset = 0
"""Where the counts begin."""
MESSAGE_INFO = SimpleNamespace(**{name: (place * _WIDTH, (place + 1) * _WIDTH) for place, name in enumerate(_COUNTED)})
"""Where each count begins and ends, in bytes."""
