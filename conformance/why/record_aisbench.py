"""Records what the real ``ais_bench`` writes for the quiz of ``tests/exchange/peer_exams.py``.

``python -m conformance.why.record_aisbench OUTPUT.zip``, in Proctor's environment: ``AISBENCH_PYTHON`` runs the
process, and a small server in this one answers it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.aisbench import recording_server
from conformance.aisbench.processes import PYTHON

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "exchange"))

import peer_exams as quiz

_DRIVER = Path(recording_server.__file__).with_name("forked_process.py")
_PATIENCE_SECONDS = 1_500
_MODEL = (
    'dict(attr="service", type=VLLMCustomAPIChat, abbr="{name}", path="", model="{name}", stream=False, '
    'request_rate=0, retry=2, host_ip="localhost", host_port={port}, url="", max_out_len=64, batch_size=2, '
    "generation_kwargs=dict(temperature=0.01, ignore_eos=False))"
)


def reply_to(path: str, body: dict[str, Any]) -> Iterator[bytes]:
    """Yield the reply of the quiz's models, which are told apart by their names."""
    del path
    text = quiz.says(recording_server.words_of(body), body["model"])
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    yield json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}).encode()


def main() -> int:
    """Record all; 1 where nothing was written."""
    recording_server.reply_to = reply_to
    folder = Path(tempfile.mkdtemp())
    for name, rows in {"rows": quiz.ROWS, **quiz.EDITED}.items():
        (folder / f"{name.replace(' ', '_')}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with recording_server.RecordingServer() as server:
        models = [_MODEL.format(name=name, port=server.port) for name in ("base", "other", "refusing")]
        (folder / "config.py").write_text(quiz.aisbench_config(folder, f"[{', '.join(models)}]"))
        command = [
            PYTHON,
            str(_DRIVER),
            "config.py",
            "--debug",
            "-w",
            "theirs",
            "--num-warmups",
            "0",
            "--dump-eval-details",
        ]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False
        )
    files = [
        file for file in sorted((folder / "theirs").rglob("*.json*")) if {"predictions", "results"} & set(file.parts)
    ]
    with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            parts = file.relative_to(folder / "theirs").parts[1:]  # without the time of the run
            if parts[1] == "base" or file.stem == "base":
                archive.write(file, "/".join(parts))
    print(f"aisbench: {len(files)} files", done.stdout[-2_000:] + done.stderr[-2_000:] if not files else "")
    return int(not files)


if __name__ == "__main__":
    sys.exit(main())
