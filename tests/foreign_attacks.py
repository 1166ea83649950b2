"""Texts of strangers that hang, fill the memory or end a reader that trusts them. Run, it reads them within limits.

``foreign_attacks.py yaml|json|literal`` prints a line of JSON for each; the process may have 256 MB more than it starts
with, so what would take them gets a ``MemoryError``.
"""

import json
import resource
import sys
import time
from pathlib import Path

N = 200_000


def _laughing(form):
    """Return YAML whose aliases name ten of the last, twenty times over."""
    lines = ["a0: &a0 " + form.format("1")]
    lines += [f"a{i}: &a{i} " + form.format(", ".join([f"*a{i - 1}"] * 10)) for i in range(1, 20)]
    return "\n".join(lines)


YAML = {
    "flow lists": "[" * N,
    "flow lists that end": "[" * N + "]" * N,
    "flow mappings": "{a: " * N,
    "block mappings": "".join(" " * i + "a:\n" for i in range(1_500)),
    "lists on a line": "- " * N + "a",
    "keys on a line": "? " * N + "a",
    "values on a line": "? - : " * N,
    "lists in UTF-16": ("[" * N).encode("utf-16"),
    "lists after a comment": "# x\n" * 10 + "[" * N,
    "many items": "- a\n" * N,
    "many flow items": "[" + "a," * N + "]",
    "many keys": "".join(f"k{i}: v\n" for i in range(80_000)),
    "many empty lists": "x: [" + "[]," * N + "]",
    "a large file": "a: " + "x" * (5 << 20),
    "billion laughs": _laughing("[{}]"),
    "billion laughs in mappings": _laughing("{{k: [{}]}}"),
    "merges": "a0: &a0 {x: 1}\n"
    + "\n".join(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}" for i in range(1, 20)),
    "a long text often": "a: &a " + "x" * 100_000 + "\nb: [" + "*a, " * 2_000 + "]",
    "a list in itself": "a: &a [*a]",
    "a mapping in itself": "&a {b: *a}",
    "a mapping merged into itself": "&a {<<: *a}",
    "two lists in each other": "a: &a [&b [*a]]",
    "a set in itself": "!!set {? &a [*a]}",
    "an integer that is none": "a: !!int x",
    "an empty integer": "a: !!int ''",
    "an integer of a list": "a: !!int [1]",
    "a float that is none": "a: !!float x",
    "an empty float": "a: !!float ''",
    "a truth that is none": "a: !!bool x",
    "a time that is none": "a: !!timestamp x",
    "a month that is none": "a: 2001-99-99",
    "a zone that is none": "a: 2001-01-01 00:00:00+99:99",
    "bytes that are none": "a: !!binary a",
    "bytes of letters": "a: !!binary ä",
    "10,000 digits": "a: " + "9" * 10_000,
    "10,000 hexadecimal digits": "a: 0x" + "f" * 10_000,
    "10,000 octal digits": "a: 0" + "7" * 10_000,
    "10,000 binary digits": "a: 0b" + "1" * 10_000,
    "10,000 digits of base 60": "a: 1" + ":1" * 10_000,
    "a fraction of base 60": "a: 1" + ":1" * 10_000 + ".5",
    "10,000 digits of a fraction": "a: 1." + "9" * 10_000,
    "a list as a key": "? [1]\n: 2",
    "a mapping as a key": "? {a: 1}\n: 2",
    "an anchor twice": "a: &x 1\nb: &x 2\nc: *x",
    "an alias of nothing": "a: *x",
    "code": "a: !!python/object/apply:os.system [x]",
    "a module": "a: !!python/module:os",
    "a name": "a: !!python/name:os.system",
    "an ordered mapping that is none": "!!omap [1]",
    "pairs that are none": "!!pairs 5",
    "a sequence that is none": "!!seq x",
    "a mapping that is none": "!!map x",
    "a merge of a number": "<<: 5",
    "a merge of numbers": "<<: [5]",
    "two documents": "a\n---\nb",
    "a byte of nothing": "\0",
    "bytes that are not UTF-8": b"\xff\xff\xff",
    "half a character": '"\\ud800"',
    "a version to come": "%YAML 9.9\n---\na",
    "an unknown tag of a list": "!foo [a]",
    "a long tag": "!<" + "x" * 100_000 + "> a",
}

JSON = {
    "lists": "[" * N,
    "lists that end": "[" * N + "]" * N,
    "objects": '{"a":' * N + "1" + "}" * N,
    "lists within the limit of Python": "[" * 800 + "]" * 800,
    "objects within it": '{"a":' * 300 + "1" + "}" * 300,
    "lists and objects": '[{"a":' * 150 + "1" + "}]" * 150,
    "deep beside wide": '{"a": [1, 2], "b": ' + "[" * 250 + "]" * 250 + "}",
    "deep behind brackets in texts": '["]]]]]]]]", ' + "[" * 250 + "]" * 250 + "]",
    "10,000 digits": '{"a": ' + "9" * 10_000 + "}",
    "a million digits": "9" * 1_000_000,
    "a negative number": "-" + "9" * 10_000,
    "digits in a list": "[1, " + "1" * 5_000 + "]",
    "nothing": "",
    "half an object": '{"a"',
    "a control character": '"\n"',
    "half an escape": '"\\u12"',
    "bytes that are not text": b'"\xff"',
    "a trailing word": "1 x",
}

LITERALS = {
    "lists": "[" * N,
    "lists that end": "[" * N + "]" * N,
    "fewer lists": "[" * 150 + "]" * 150,
    "parentheses": "(" * 5_000 + ")" * 5_000,
    "signs": "-" * N + "1",
    "fewer signs": "-" * 5_000 + "1",
    "many numbers": "[" + "1," * 4_000_000 + "]",
    "many texts": "'a' " * 1_000_000,
    "additions": "+".join(["1"] * 100_000),
    "10,000 digits": "9" * 10_000,
    "a power": "9**9**9",
    "a call": "__import__('os').system('x')",
    "a name": "x",
    "a list as a key": "{[1]: 2}",
    "a list in a set": "{[1]}",
    "a byte of nothing": "'\0'",
    "a comprehension": "[x for x in range(10**9)]",
    "a repetition": "'a' * 10**9",
    "a format": "f'{1:1000000000}'",
}


def main(kind):
    import yaml

    from proctor.foreign_text import parse_json, parse_literal
    from proctor.foreign_yaml import parse_yaml

    read, attacks, ours = {
        "yaml": (parse_yaml, YAML, yaml.YAMLError),
        "json": (parse_json, JSON, (json.JSONDecodeError, UnicodeDecodeError)),
        "literal": (parse_literal, LITERALS, (SyntaxError, ValueError)),
    }[kind]
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (256 << 20), size + (256 << 20)))
    for name, text in attacks.items():
        started = time.process_time()
        try:
            got = ["value", repr(read(text))[:200]]
        except ours as error:
            got = ["refused", str(getattr(error, "problem", None) or error)[:500]]
        except BaseException as error:  # the test says what came instead
            got = ["raised", f"{type(error).__name__}: {error}"[:500]]
        print(json.dumps([name, *got, time.process_time() - started]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
