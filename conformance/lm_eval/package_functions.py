"""What code of tasks calls of lm_eval's package, with the same arguments on both sides.

Run ``python -m conformance.lm_eval.package_functions --lm-python ENV/bin/python``. ENV has lm_eval 0.4.13 installed.
Prints every call whose result differs; exits with 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = "proctor.dialects.lm_eval.classes"
WORDS = (
    "do n't",
    "( a )",
    ' " quoted " ',
    "it 's , well .",
    "a=1,b=true,c=0.5,d=x",
    "Paris",
    "",
    "paris!",
    "12",
    "x y z",
)


def calls() -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield module, function, arguments and named arguments."""
    draw = random.Random(5)
    labels = ["yes", "no", "maybe"]
    for size in (3, 10, 60):
        pairs = [[draw.choice(labels), draw.choice(labels)] for _ in range(size)]
        binary = [[draw.randint(0, 1), draw.randint(0, 1)] for _ in range(size)]
        numbers = [draw.random() for _ in range(size)]
        weighted = [[-draw.random() * 20, draw.randint(1, 30)] for _ in range(size)]
        yield "utils", "weighted_f1_score", [pairs], {}
        yield "utils", "softmax", [numbers], {}
        for name in ("mean", "median", "nanmean", "pop_stddev", "sample_stddev", "mean_stderr", "perplexity"):
            yield "api.metrics", name, [numbers], {}
        for name in ("weighted_mean", "weighted_perplexity", "bits_per_byte"):
            yield "api.metrics", name, [weighted], {}
        for name in ("f1_score", "matthews_corrcoef"):
            yield "api.metrics", name, [binary], {}
        texts = [[draw.choice(WORDS) or "a b c d", "a b c d e"] for _ in range(size)]
        for name in ("bleu", "chrf", "ter"):
            yield "api.metrics", name, [texts], {}
    yield from _of_texts(draw)


def _of_texts(draw: random.Random) -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield calls about texts, questions and tokens."""
    for word in WORDS:
        for name in ("general_detokenize", "simple_parse_args_string", "hash_string", "handle_arg_string"):
            yield "utils", name, [word], {}
        yield "utils", "sanitize_model_name", [f"org/{word}:x"], {}
        yield "utils", "sanitize_task_name", [f"task-{word}"], {}
        yield "utils", "apply_template", ["{{x}} and {{x|length}}\n", {"x": word}], {}
        yield "utils", "regex_replace", [word, "[aeiou]", "_"], {}
    for value in ("-3", "1e3", "'5'", "none", "TRUE", " 7 ", "a=b"):
        yield "utils", "handle_arg_string", [value], {}
    for given in (
        {},
        {"ignore_case": True},
        {"ignore_punctuation": True, "ignore_case": True},
        {"ignore_numbers": True},
    ):
        references = ["Paris", "12 a", "b", "x"]
        yield "api.metrics", "exact_match_hf_evaluate", [["paris", "a", "b!", "x"], references], given
    yield "api.metrics", "exact_match_hf_evaluate", [["a1", "b"], ["a", "b2"]], {"regexes_to_ignore": [r"\d"]}
    questions = [[draw.random() < 0.6, _idx(place // 3, place % 2, draw.randint(0, 1))] for place in range(24)]
    yield "api.metrics", "acc_all", [questions], {}
    yield "api.metrics", "acc_all_stderr", [questions], {}
    yield "utils", "pattern_match", [["a_*", "b"], ["a_1", "b", "c", "a_2"]], {}
    for place in range(1, 24, 4):
        tokens = list(range(100, 100 + place * 3))
        for length, context in ((10, 1), (10, 5), (7, 7)):
            yield "utils", "get_rolling_token_windows", [tokens, 9, length, context], {}
    yield "utils", "make_table", [_results()], {}
    yield from _of_models(draw)
    yield from _of_prompts(draw)


def _of_models(draw: random.Random) -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield calls of what models of one's own use."""
    tokens = list(range(20))
    for size in (1, 3, 20, 25):
        yield "models.utils", "chunks", [tokens, size], {}
        for limit, room, shrink in ((5, 30, False), (5, 22, False), (5, 22, True), (30, 22, True), (5, 3, True)):
            given = {"min_gen_toks": 4, "shrink_gen_toks": shrink, "verbose": False}
            yield "models.utils", "maybe_truncate", [tokens[:size], limit, room], given
    yield from _of_decoding()
    yield from _of_batches(draw)


def _of_decoding() -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield calls about how to generate."""
    for until in ("a", ["a", "b"], None, ["</s>"], 7):
        yield "models.utils", "handle_stop_sequences", [until, "</s>"], {}
    limits: list[dict[str, Any]] = [
        {},
        {"max_tokens": 5},
        {"max_new_tokens": "7"},
        {"max_gen_toks": 3, "max_tokens": 5},
    ]
    drawn: list[dict[str, Any]] = [
        {},
        {"do_sample": True},
        {"do_sample": False, "temperature": 0.5},
        {"temperature": 0.7},
    ]
    for limit_given in limits:
        for draws in drawn:
            yield "models.utils", "normalize_gen_kwargs", [{**limit_given, **draws, "until": "x"}], {}


def _of_batches(draw: random.Random) -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield calls about answers and batches."""
    for stop in (None, "c", ["", "b"], []):
        yield "models.utils", "postprocess_generated_text", ["x</think> abc", stop, "</think>"], {}
    for start in (None, "<s>", ["<b>", "<s>"]):
        yield "models.utils", "has_bos_prefix", ["<s>text", start], {}
    yield "models.utils", "undistribute", [[[1, 4, 7], [2, 5], [3, 6], []]], {}
    for group_by in (None, "gen_kwargs", "contexts"):
        for size in (1, 2, 5):
            yield "models.utils", "Collator:batches", [[draw.randrange(9) for _ in range(12)], size, group_by], {}


def _of_prompts(draw: random.Random) -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield calls about messages, contaminated texts, and groups."""
    for before in ("", "a", "a ", "a\n", None):
        for after in ("b", " b", None):
            yield "api.utils", "maybe_delimit", [before, after, "--"], {}
            if before is not None and after is not None:
                yield "api.utils", "requires_delimiter", [before, after], {}
    for text in ("", "a", "a "):
        yield "api.utils", "ends_with_whitespace", [text], {}
    for roles in (
        ("system", "user", "assistant", "user"),
        ("user",),
        ("user", "assistant"),
        ("system", "user", "assistant"),
    ):
        yield "api.utils", "Message:laid_out", [list(roles)], {}
    yield from _of_long_texts(draw)


def _of_long_texts(draw: random.Random) -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield calls about contaminated texts."""
    words = [draw.choice(WORDS) or "filler" for _ in range(400)]
    text = " ".join(words)
    for size in (1, 3, 13):
        yield "decontamination.janitor", "word_ngrams", [text, size], {}
        yield "decontamination.janitor", "word_ngrams_indices", [text, size], {}
        for cutoff in (0, 2, 50):
            yield "decontamination.janitor", "Janitor:clean", [text, " ".join(words[100:120]), size, cutoff], {}


def _batches(module: Any, numbers: list[int], size: int, group_by: str | None) -> Any:
    given = [{"until": [str(each % 3)]} for each in numbers]
    items: list[Any] = [(each, kwargs) for each, kwargs in zip(numbers, given, strict=True)]
    if group_by == "contexts":
        items = [((str(each), "x"), [each], [each, each + 1]) for each in dict.fromkeys(numbers)]
        made = module.Collator(items, lambda item: -item[1][0], lambda item: item[-2] + item[-1][:-1], group_by)
    else:
        made = module.Collator(items, lambda item: -item[0], lambda item: item[1], group_by)
    batches = list(made.get_batched(n=size))
    if group_by == "contexts":
        answers = [each[0] for batch in batches for item in batch for each in made.get_cache(*item, None)]
    else:
        answers = [item[0] for batch in batches for item in batch]
    return [batches, made.get_original(answers), len(made)]


def _laid_out(module: Any, roles: list[str]) -> Any:
    def messages() -> list[Any]:
        return [module.Message(role, f"{role} says", " | ") for role in roles]

    return [module.messages_to_text(messages())]


def _cleaned(module: Any, text: str, dirt: str, size: int, cutoff: int) -> Any:
    made = module.Janitor(ngram_n=size, window_to_remove=20, too_dirty_cutoff=cutoff, minimum_slice_length=10)
    made.register_contaminant_python(dirt)
    return [sorted(made.dirt_ngrams), made.clean_python(text)]


PROBES: dict[str, Any] = {
    "Collator:batches": _batches,
    "Message:laid_out": _laid_out,
    "Janitor:clean": _cleaned,
}
"""Classes, as what is seen of them when they are used."""


def _idx(paragraph: int, question: int, label: int) -> dict[str, Any]:
    return {"idx": {"paragraph": paragraph, "question": question}, "label": label}


def _results() -> dict[str, Any]:
    row = {"name": "b", "alias": "b", "sample_len": 4, "acc,none": 0.5, "acc_stderr,none": 0.25, "f1,none": "N/A"}
    group = {"alias": "g", "name": "g", "acc,none": 0.75, "acc_stderr,none": "N/A"}
    return {
        "results": {"b": row, "c": {**row, "alias": "c"}, "g": group},
        "group_subtasks": {"g": ["b", "c"]},
        "versions": {"b": 1.0, "c": "Yaml", "g": 2},
        "n-shot": {"b": 0, "c": 5},
        "higher_is_better": {"b": {"acc": True, "f1": None}, "c": {"acc": False}},
    }


def answers(prefix: str) -> list[Any]:
    """Return what each call gives, or the kind of error."""
    found = []
    for module, name, given, named in calls():
        try:
            place = import_module(_place(prefix, module))
            value = PROBES[name](place, *given) if name in PROBES else getattr(place, name)(*given, **named)
            value = _cells(value) if name == "make_table" else value
            found.append(json.loads(json.dumps(list(value) if hasattr(value, "__next__") else value, default=_plain)))
        except Exception as error:  # noqa: BLE001 - the kind of error is what is compared
            found.append(f"error: {type(error).__name__}")
    return found


def _place(prefix: str, module: str) -> str:
    """Return where a module of lm-eval's is on one of the sides."""
    if prefix != HERE:
        return f"{prefix}.{module}"
    from proctor.guests.names.lm_eval import LM_EVAL

    return next(iter(LM_EVAL.names[f"lm_eval.{module}"]))


def _cells(table: str) -> list[list[Any]]:
    """Return a table without its layout: lm-eval's library writes 0.7500 as 0.75 where a column allows it."""
    rows = [line.strip("|").split("|") for line in table.splitlines() if not line.startswith("|--")]
    return [[_number(cell.strip()) for cell in row] for row in rows]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal, numbers to twelve digits."""
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and abs(one - other) <= 1e-12 * max(1.0, abs(one))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def main() -> None:
    """Call on both sides and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm-python", default="/tmp/lmvenv/bin/python")  # noqa: S108 - a default to try
    parser.add_argument("--lm-side", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.lm_side:
        Path(arguments.lm_side).write_text(json.dumps(answers("lm_eval")))
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lm.json"
        subprocess.run([arguments.lm_python, __file__, "--lm-side", str(out)], check=True)
        theirs = json.loads(out.read_text())
    ours = answers(HERE)
    listed = list(calls())
    different = [place for place in range(len(listed)) if not same(ours[place], theirs[place])]
    for place in different:
        module, name, given, named = listed[place]
        print(
            f"{module}.{name}{given!s:.200} {named}\n  lm-eval {theirs[place]!s:.300}\n  Proctor {ours[place]!s:.300}"
        )
    print(f"{len(listed)} calls, {len(different)} differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
