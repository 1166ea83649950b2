"""Runs attacks in a process of their own: ``attack.py rows|configs|templates``; a line of JSON for each.

The process may have 256 MB more than it starts with, so an attack that would take them gets a ``MemoryError``.
"""

import json
import resource
import runpy
import sys
import tempfile
import time
from pathlib import Path

from proctor.dialects.aisbench.reader import read_config
from proctor.dialects.lm_eval.jinja import compile_text
from proctor.errors import ProctorError
from proctor.safe_python import compile_expression

ATTACKS = runpy.run_path(str(Path(__file__).with_name("attacks.py")))
MEMORY = 256 << 20


class Picture:
    """An object in a row with methods that act."""

    def __call__(self):
        raise AssertionError("called")

    save = show = __call__


def as_row(expression):
    return compile_expression(expression, ["re", "json", "math", "itertools"])(ATTACKS["ROW"])


def as_config(source):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hostile.py")
        path.write_text(source, encoding="utf-8")
        return read_config(path, trust_code=False)


def as_value(expression):
    names = "".join(f"{name} = {value!r}\n" for name, value in ATTACKS["ROW"].items())
    imports = (
        "import re, json, math, itertools\n"
        if any(f"{m}." in expression for m in ("re", "json", "math", "itertools"))
        else ""
    )
    return as_config(f"{imports}{names}x = {expression}\n")


def as_template(template):
    row = {**ATTACKS["ROW"], "big": "b" * 5_000_000, "many": ["w"] * 10_000, "picture": Picture()}
    return compile_text(template)(row)


def main(kind):
    expressions = [*ATTACKS["REACHING"], *ATTACKS["BOMBS"]]
    run, attacks = {
        "rows": (as_row, expressions),
        "values": (as_value, expressions),
        "configs": (as_config, ATTACKS["CONFIGS"]),
        "templates": (as_template, ATTACKS["TEMPLATES"]),
        "braces": (as_template, [f"{{{{ {each} }}}}" for each in expressions]),
    }[kind]
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    for attack in attacks:
        started = time.process_time()
        try:
            got = ["value", repr(run(attack))[:200]]
        except ProctorError as error:
            got = ["refused", str(error)[:500]]
        except BaseException as error:  # the test says what came instead of an error of ours
            got = ["raised", f"{type(error).__name__}: {error}"[:500]]
        print(json.dumps([attack, *got, time.process_time() - started]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
