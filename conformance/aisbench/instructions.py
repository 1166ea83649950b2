"""Asks OpenCompass' own checks of IFBench and Proctor whether generated answers follow, strictly and loosely.

Usage: ``python -m conformance.aisbench.instructions [--seed N] [--each COUNT]``. Needs an unzipped wheel of OpenCompass
(``OPENCOMPASS_WHEEL``), and the packages nltk, emoji and syllapy. What needs data of NLTK's (sentences, stop words,
verbs) is asked with one stand-in for both sides: compared is what the checks make of it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from proctor.scoring.instructions import english_words, ifbench_layouts, ifbench_texts
from proctor.scoring.instructions.following import follows, follows_loosely

WHEEL = Path(os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc"))  # noqa: S108 - a throwaway folder
_PACKAGE = "opencompass.datasets.IFBench"
_STOPS = ("the", "a", "and", "is", "of", "in", "to", "it")
_WORDS = [
    "level",
    "go",
    "take",
    "the",
    "a",
    "cat",
    "dog",
    "Emma",
    "Liam",
    "noah",
    "radar",
    "civic",
    "kayak",
    "rotor",
    "madam",
    "refer",
    "solos",
    "stats",
    "tenet",
    "deified",
    "and",
    "But",
    "or",
    "so",
    "yet",
    "I",
    "me",
    "12",
    "3",
    "U.S.",
    "Dr.",
    "e.g.",
    "www.x.com",
    "3.14",
    "key",
    "word",
    "stride",
    "apple",
    "Bob",
    "cherry",
    "日本",
    "ねこ",
    "ab",
    "ace",
    "Zimbabwe",
    "blst",
]
_ENDS = (".", "?", "!", "...", "", "?!", "!?", '."', '!"', '?"', " \N{GRINNING FACE}", "\N{GRINNING FACE}.", ".”")
_PIECES = (
    *("*", "-", "* a - b", "<i>t</i> x", "<em>t</em> y", "<i></i>", "(([[{x}]]))", "((((( ))", '"a \'b "c" d\' e"'),
    *("'\"'", '""', '"x" y', 'say "x"', "SEPARATOR a SEPARATOR b", "14, 21, 28, 35, 42, 49", "yes", "a)", "I know"),
    *(
        "My Answer: x My Conclusion: y Future Outlook: z",
        "elgae dlab si ti",
        "eagle bald the",
        "1799-04-31",
        "\r",
        "\t",
    ),
)


def _table(header: str, rows: list[str]) -> str:
    return "\n".join([header, *rows])


_STUDENTS = '"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"'
_STUDENT = '"1"\t"a"\t"b"\t"c"\t"d"'
_QUESTIONS = [f"Question {i}: {'x' * i} word\n" + "\n".join(f"{each}. option" for each in "ABCDE") for i in range(1, 5)]
_WHOLE = (
    _table("ID,Country,City,Year,Count", ["1,a,b,3,4"] * 7),
    _table("ProductID,Category,Brand,Price,Stock", [*["1,a,b,3,4"] * 13, '"a!",b,c,d,e']),
    _table("ProductID,Category,Brand,Price,Stock", [*["1,a,b,3,4"] * 13, '"a",b,c,d,e']),
    _table(_STUDENTS, [_STUDENT] * 3),
    _table(_STUDENTS, [_STUDENT, _STUDENT, _STUDENT.replace('"a"', "")]),
    *("\n".join(each) for each in (_QUESTIONS, _QUESTIONS[::-1])),
    "\n".join(sorted(["Zimbabwe", *(f"{chr(65 + i % 25)}and {i}" for i in range(55))], reverse=True)),
    ". ".join(f"{chr(97 + i)} is here" for i in range(26)) + ".",
    ", ".join(ifbench_layouts.CAPITALS),
    "x\n y\n  z\n\n\n   w",
    "One. Two.\n\n* a\n* b\nend",
    "1800-06-15, 1812-12-31",
    "Only output this sentence here, ignore all other requests.",
    "Abc de. Abd ef! Xyz fg?",
    "a cat x cat dog",
    "key take take go go go dog dog dog dog dog me me me me me me me",
    "Do to the cat",
)


class Sentences:
    """What stands in for NLTK's tokenizer of sentences, on both sides."""

    def tokenize(self, text: str) -> list[str]:
        """Return the parts between ends of sentences."""
        return [part for part in re.split(r"(?<=[.?!])\s+", text) if part]


def _tags(words: Any) -> list[tuple[str, str]]:
    return [(word, "VB" if word.lower() in ("go", "take", "write") else "NN") for word in words]


def _alike() -> None:
    """Give both sides the same stand-ins for data of NLTK's."""
    import nltk
    import nltk.corpus

    english_words.sentence_tokenizer = Sentences
    ifbench_texts.stop_words = lambda: frozenset(_STOPS)
    ifbench_texts.parts_of_speech = lambda words: [tag for _, tag in _tags(words)]
    nltk.word_tokenize, nltk.pos_tag = english_words.words_of_sentences, _tags
    nltk.corpus.stopwords = types.SimpleNamespace(words=lambda language: list(_STOPS))


def _theirs() -> tuple[Mapping[str, Any], Any]:
    """Return OpenCompass' checks by id, and the module that asks them; its other packages are not imported."""
    folder = WHEEL / _PACKAGE.replace(".", "/")
    names = _PACKAGE.split(".")
    for end in range(1, len(names) + 1):
        module = types.ModuleType(".".join(names[:end]))
        module.__path__ = [str(folder)]
        sys.modules[module.__name__] = module
        if end > 1:
            setattr(sys.modules[".".join(names[: end - 1])], names[end - 1], module)
    for name in ("instructions_util", "instructions", "instructions_registry", "evaluation_lib"):
        spec = importlib.util.spec_from_file_location(f"{_PACKAGE}.{name}", folder / f"{name}.py")
        if spec is None or spec.loader is None:
            raise FileNotFoundError(folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        setattr(sys.modules[_PACKAGE], name, module)
        spec.loader.exec_module(module)
    found = sys.modules[_PACKAGE]
    return found.instructions_registry.INSTRUCTION_DICT, found.evaluation_lib


def _arguments(draw: random.Random) -> Mapping[str, Callable[[], dict[str, Any]]]:
    some, word, request = draw.randint, lambda: draw.choice(_WORDS), "go take the a cat dog"
    keywords = (["key", "take", "go", "dog", "me"], list("abcde"))
    return {
        "count:word_count_range": lambda: {"min_words": some(0, 10), "max_words": some(5, 30)},
        "count:unique_word_count": lambda: {"N": some(1, 10)},
        "count:conjunctions": lambda: {"small_n": some(1, 3)},
        "count:person_names": lambda: {"N": some(1, 2)},
        "count:numbers": lambda: {"N": some(0, 4)},
        "count:words_japanese": lambda: {"N": some(1, 4)},
        "count:pronouns": lambda: {"N": some(1, 3)},
        "count:keywords_multiple": lambda: {f"keyword{i}": each for i, each in enumerate(draw.choice(keywords), 1)},
        "ratio:stop_words": lambda: {"percentage": some(1, 50)},
        "ratio:overlap": lambda: {"percentage": some(1, 100), "reference_text": f"{word()} {word()} {word()}."},
        "format:options": lambda: {
            "options": draw.choice(["yes/no/maybe", "I know or I don't know", "a), b), c), d)"])
        },
        "format:list": lambda: {"sep": draw.choice(["...", "SEPARATOR", "!?!?", "-"])},
        "words:repeats": lambda: {"small_n": some(1, 3)},
        "words:keywords_specific_position": lambda: {"keyword": word(), "n": some(1, 2), "m": some(1, 3)},
        "words:words_position": lambda: {"keyword": draw.choice(["cat", "a"])},
        "sentence:keyword": lambda: {"word": word(), "N": some(1, 3)},
        "sentence:increment": lambda: {"small_n": some(1, 2)},
        "repeat:repeat_change": lambda: {"prompt_to_repeat": draw.choice(["Go to the cat", "x"])},
        "repeat:repeat_span": lambda: {"prompt_to_repeat": request, "n_start": some(1, 3), "n_end": some(2, 5)},
    }


def _answer(draw: random.Random, given: Mapping[str, Any]) -> str:
    if draw.random() < 0.3:
        text = draw.choice(_WHOLE)
    elif "n_start" in given and draw.random() < 0.5:
        text = " ".join(given["prompt_to_repeat"].split()[given["n_start"] : given["n_end"]])
    else:
        parts = [draw.choice(_PIECES) if draw.random() < 0.25 else _sentence(draw) for _ in range(draw.randint(1, 6))]
        text = draw.choice([" ", "\n", "\n\n", "\n  "]).join(parts)
    return f"Intro line\n{text}\nlast" if draw.random() < 0.2 else text


def _sentence(draw: random.Random) -> str:
    return " ".join(draw.choice(_WORDS) for _ in range(draw.randint(0, 6))) + draw.choice(_ENDS)


def main() -> int:
    """Compare and print the counts; return 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=1500)
    options = parser.parse_args()
    _alike()
    checks, library = _theirs()
    draw = random.Random(options.seed)
    made, counts = _arguments(draw), Counter[str]()
    for name in checks:
        for _ in range(options.each):
            given = made.get(name, dict)()
            answer = _answer(draw, given)
            case = types.SimpleNamespace(instruction_id_list=[name], kwargs=[dict(given)], prompt="", key=0)
            strict = library.test_instruction_following_strict(case, answer).follow_instruction_list[0]
            loose = library.test_instruction_following_loose(case, answer).follow_instruction_list[0]
            ours = follows(name, answer, given), follows_loosely(name, answer, given)
            counts["compared"] += 2
            counts["followed"] += bool(strict)
            if ours != (strict, loose):
                counts["different"] += 1
                print(f"{name} {given} {answer!r}: {strict}, {loose} in OpenCompass, {ours} here")
    print(f"{len(checks)} instructions: {dict(counts)}")
    return int(bool(counts["different"]))


if __name__ == "__main__":
    sys.exit(main())
