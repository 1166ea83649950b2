"""Strings that nobody would write, for everything that reads a stranger's text: only our own errors may come back.

python tests/security/fuzz.py --seconds 600             each target for ten minutes (make soak)
python tests/security/fuzz.py --target yaml --seed 7    one of them, with other draws

Inputs are honest ones of the catalogs, cut, repeated, nested and mixed by a seeded generator. A target fails where it
raises anything else than a :class:`ProctorError`, or takes more than ``SLOWEST`` processor seconds.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from proctor.artifacts.catalogs import builtin_catalog
from proctor.artifacts.query import is_assignments, parse_assignments, parse_query
from proctor.dialects.lm_eval import jinja
from proctor.dialects.lm_eval.reader import parse
from proctor.errors import ProctorError
from proctor.ir import Response
from proctor.running import codec
from proctor.safe_python import compile_expression

SLOWEST = 3.0  # seconds for one input: a budget is 0.9, and other work shares the machine
ROW = {"a": "text of a row", "n": 7, "list": [1, "two", {"three": 3.0}], "choices": ["x", "y"], "question": "Why?"}
Try = Callable[[str], object]

QUERIES = [
    "card=cards.wnli,template=templates.qa.open,num_demos=3,demos_pool_size=20",
    'metrics.llm_as_judge[model="a,b",inference=[x,{y=1}],z={"k":[1,2]}]',
    "operators.rename[field=a/b,to_field=c][x=1]",
]
YAMLS = [
    "task: t\ndataset_path: json\noutput_type: multiple_choice\ndoc_to_text: '{{q}}'\nmetric_list:\n - metric: acc\n   weight: 1e3\n",
    "a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}, e: !function utils.f}\nf: 0x1F\ng: 2001-01-01\nh: |\n  text\n  more\n",
    "task_list: [{task: a, tag: [x]}, {task: b}]\nchildren: {a: {ref: b}, c: {children: {}}}\n",
]
EXPRESSIONS = [
    "[x.upper() for x in choices if len(x) > 0][0] + a[:3]",
    "{k: v for k, v in zip(choices, range(n))}",
    "re.sub('(a|b)+', lambda m: m.group(0) * 2, a)",
    "f'{n:>10} {a!r:.20}' if n % 2 == 1 else '%05d' % n",
    "sum([x * 2 for x in range(n)]) ** 2 // 3",
    "json.loads('[1, 2]') + sorted(list, key=str)",
]
TEMPLATES = [
    "{{question.strip()}} {% for c in choices %}{{loop.index}}. {{c|upper}}{% endfor %}",
    "{% set x = a|replace('t', 'tt') %}{{x[:10]|center(20)}}{{ x|length * 2 }}",
    "{% macro m(n) %}{{ n ~ '!' }}{% endmacro %}{{ m(n) }}{{ choices|join(', ')|truncate(9) }}",
    "{{ list[2].three|round(2)|string|indent(2) if n > 3 else none|default('x') }}",
]


def _artifacts() -> list[str]:
    catalog = builtin_catalog()
    names = list(catalog.names())[::40]
    return [path.read_text(encoding="utf-8") for name in names if (path := catalog.path_of(name)) is not None]


def _bodies() -> list[str]:
    made = [Response(("text ä",)), Response(("x" * 3000,)), Response(("a", "b"))]
    return [codec.encode(each).decode("latin-1") for each in made]


def _query(text: str) -> object:
    return parse_assignments(text) if is_assignments(text) else parse_query(text)


def _artifact(text: str) -> object:
    from proctor.artifacts.fetch import fetch_artifact

    return fetch_artifact(text if text.lstrip().startswith("{") else "{" + text)


def _template(text: str) -> object:
    return jinja.compile_text(text)(ROW)


def _expression(text: str) -> object:
    compiled = compile_expression(text, ("re", "json", "math"))
    try:
        return compiled(ROW)
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, NameError, re.error):
        return None  # what Python says of such a row: whoever computes rows makes a failure of it


TARGETS: dict[str, tuple[Callable[[], list[str]], Try]] = {
    "query": (lambda: QUERIES, _query),
    "yaml": (lambda: YAMLS, lambda text: parse(text.encode("utf-8", "surrogatepass"), "fuzz.yaml")),
    "artifacts": (_artifacts, _artifact),
    "expressions": (lambda: EXPRESSIONS, _expression),
    "jinja": (lambda: TEMPLATES, _template),
    "responses": (_bodies, lambda text: codec.decode(text.encode("latin-1", "replace"))),
}


def inputs(corpus: list[str], draw: random.Random) -> Iterator[str]:
    """Yield honest texts and what becomes of them."""
    yield from corpus
    odd = ["\x00", "\ufeff", "\u202e", "9" * 5000, "[" * 3000, "{{" * 500, "(" * 200, "\t", "\\", "'", '"', "&a ", "*a"]
    while True:
        text = draw.choice(corpus)
        for _ in range(draw.randint(1, 4)):
            start = draw.randrange(len(text) + 1)
            end = min(len(text), start + draw.choice([0, 1, 3, 10, 60]))
            other = draw.choice(corpus)
            cut = draw.randrange(len(other) + 1)
            piece = draw.choice(
                ["", text[start:end] * draw.choice([2, 40, 2000]), other[cut : cut + 30], draw.choice(odd)]
            )
            text = (text[:start] + piece + text[end:])[:200_000]
        yield text


def attack(name: str, seed: int, seconds: float, most: int | None = None) -> tuple[int, list[str]]:
    """Try a target; return how many inputs it got, and what went wrong."""
    make, target = TARGETS[name]
    wrong: list[str] = []
    count, end = 0, time.monotonic() + seconds
    for text in inputs(make(), random.Random(seed)):
        if time.monotonic() > end or count == most:
            break
        count += 1
        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # an old name that still means what it meant
                target(text)
        except ProctorError:
            pass
        except BaseException as error:
            wrong.append(f"{type(error).__name__}: {error!s:.80} for {text[:200]!r}")
        if (took := time.process_time() - began) > SLOWEST:
            wrong.append(f"{took:.1f} s for {text[:200]!r}")
    return count, wrong


def main() -> int:
    """Try targets; return 1 where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--target", choices=list(TARGETS))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    failed = 0
    for name in [args.target] if args.target else TARGETS:
        count, wrong = attack(name, args.seed, args.seconds)
        failed += len(wrong)
        print(f"{name}: {count} inputs, {len(wrong)} wrong", *wrong[:20], sep="\n  ", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.exit(main())
