"""NeedleBench: needles put into a haystack of tokens, and a question about them."""
# ruff: noqa: E501, RUF001 - prompts as upstream words them

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.generators import LINES, Source
from proctor.dialects.aisbench.datasets.generators.ancestors import all_names, told
from proctor.dialects.aisbench.datasets.generators.tokens import Tokenizer, tokenizer
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.dialects.aisbench.datasets.upstream_texts import constants
from proctor.errors import DataError
from proctor.randomness import random_stream

_FILES = {
    "needlebench origin": "en_un_asr zh_all PaulGrahamEssays multi_needle_reasoning_en.json multi_needle_reasoning_zh.json"
    " zh_finance zh_game zh_general zh_government zh_movie zh_tech",
    "needlebench_v2 multi": "PaulGrahamEssays names.json zh_finance zh_game zh_general zh_government zh_movie zh_tech",
    "": "PaulGrahamEssays multi_needle_reasoning_en.json multi_needle_reasoning_zh.json zh_finance zh_game zh_general"
    " zh_government zh_movie zh_tech",
}
_FILES["needlebench_v2 origin"] = _FILES["needlebench origin"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """The needles of one haystack.

    Attributes:
        needles: Texts to hide.
        question: What is asked.
        answer: As rows have it.
        person: Whom the question is about, where the prompt says so.
    """

    needles: Sequence[str]
    question: str
    answer: str
    person: str = ""


def haystack(source: Source) -> list[Row]:
    """Rows with a prompt around a haystack of the length that the config says, one for each file and repetition."""
    arguments, encoding = source.arguments, tokenizer(source.arguments["tokenizer_model"])
    kind = f"{arguments['version']} {arguments['kind']}"
    hide = _HIDERS[kind](source)
    names = [name if "." in name else f"{name}.jsonl" for name in _FILES.get(kind, _FILES[""]).split()]
    made: list[Row] = []
    for name in (name for name in names if name in arguments["file_list"]):
        texts = [row["text"] for row in source.rows(f"{arguments['path']}/{name}", LINES)]
        for counter in range(arguments["num_repeats_per_file"]):
            random.Random(counter).shuffle(texts)
            hidden = hide(counter)
            context = _hidden_in(texts, hidden.needles, encoding, arguments)
            made.append({"prompt": _prompt(kind, arguments, context, hidden), "answer": hidden.answer})
    return made


def _hidden_in(texts: Sequence[str], needles: Sequence[str], encoding: Tokenizer, arguments: Mapping[str, Any]) -> str:
    """Return so many tokens of texts as the needles leave room for, with the needles in their places."""
    encoded = [encoding.encode(needle) for needle in needles]
    room = max(arguments["length"] - arguments["length_buffer"] - sum(map(len, encoded)), 0)
    tokens: list[int] = []
    for text in texts:
        tokens += encoding.encode(text)
        if len(tokens) >= room:
            break
    tokens = tokens[:room]
    places = _PLACES[arguments["kind"]](len(tokens), encoded, arguments)
    for needle, place in zip(encoded, places, strict=True):
        tokens = tokens[:place] + needle + tokens[place:]
    return encoding.decode(tokens)


_Places = Callable[[int, Sequence[Sequence[int]], Mapping[str, Any]], list[int]]


def _one_place(size: int, needles: Sequence[Sequence[int]], arguments: Mapping[str, Any]) -> list[int]:
    del needles
    return [int(size * (arguments["depth"] / 100))]


def _parallel_places(size: int, needles: Sequence[Sequence[int]], arguments: Mapping[str, Any]) -> list[int]:
    places, inserted = [], 0
    for depth, needle in zip(arguments["depths"], needles, strict=False):
        places.append(min(int(size * (depth / 100)) + inserted, size + inserted))
        inserted += len(needle)
    return places


def _spread_places(size: int, needles: Sequence[Sequence[int]], arguments: Mapping[str, Any]) -> list[int]:
    """Return places for several needles, each further down; each insertion moves those after it once more."""
    places: list[int] = []
    for i in range(len(needles)):
        before = sum(map(len, needles[:i]))
        place = int(size * (arguments["depth"] / 100))
        if i:
            place = int(places[i - 1] + len(needles[i - 1]) + size * (arguments["diff"] / 100))
        places.append(min(place, size + before))
    for i, needle in enumerate(needles):
        places[i + 1 :] = [place + len(needle) for place in places[i + 1 :]]
    return places


_PLACES: Mapping[str, _Places] = {"origin": _one_place, "parallel": _parallel_places, "multi": _spread_places}


# -- what is hidden -----------------------------------------------------------------------------------------------


def _needle_path(source: Source) -> str:
    return f"{source.arguments['path']}/{source.arguments['needle_file_name']}"


def _one(source: Source) -> Callable[[int], Hidden]:
    rows = [row for row in source.rows(_needle_path(source), LINES) if row["language"] == source.arguments["language"]]

    def hide(counter: int) -> Hidden:
        row = random.Random(counter).choice(rows)
        needle = f"\n{row['needle']}\n"
        return Hidden([needle], row["retrieval_question"], f"{needle}*{row['arg2']}")

    return hide


def _parallel(source: Source) -> Callable[[int], Hidden]:
    """Several needles; upstream draws which without a seed, here that follows from the settings' seed and the path."""
    language, depths = source.arguments["language"], source.arguments["depths"]
    rows = source.rows(_needle_path(source), LINES)
    random_stream(_needle_path(source)).shuffle(rows)
    chosen = _different([row for row in rows if row.get("language") == language], len(depths))
    mark, stop, end = ("？", "。", "的格式回答。") if language == "Chinese" else ("?", ".", "")

    def hide(counter: int) -> Hidden:
        needles = list(chosen)
        random.Random(counter).shuffle(needles)
        asked = [row["retrieval_question"] for row in needles]
        questions = "、".join(text.split(mark)[0] + mark for text in asked)
        answers = "、".join(text.split("'")[1].split(stop)[0] for text in asked)
        please = "请按照'" if language == "Chinese" else "Please answer in the format of '"
        keywords = "*".join(row["arg2"] for row in needles)
        answer = f"{keywords}#{'*'.join(map(str, depths))}"
        return Hidden([f"\n{row['needle']}\n" for row in needles], f"{questions}{please}{answers}'{end}", answer)

    return hide


def _different(rows: Sequence[Row], count: int) -> list[Row]:
    """Return the first rows that share neither their first nor their second word with one before."""
    first: set[Any] = set()
    second: set[Any] = set()
    chosen: list[Row] = []
    for row in rows:
        if row.get("arg1", "") not in first and row.get("arg2", "") not in second:
            first.add(row.get("arg1", ""))
            second.add(row.get("arg2", ""))
            chosen.append(row)
        if len(chosen) == count:
            break
    return chosen


def _derived(source: Source) -> Callable[[int], Hidden]:
    wanted = source.arguments["num_needles"]
    rows = [row for row in source.document(_needle_path(source)) if row.get("derivation_count") == wanted]

    def hide(counter: int) -> Hidden:
        row = random.Random(counter).choice(rows)
        needles = [f"\n{needle}\n" for needle in row["derivations"]]
        return Hidden(needles, row["question"], f"{row['answer']}*{row['answer']}")

    return hide


ELDEST: Mapping[str, str] = prompt_texts("eldest")
"""What is asked about a chain of people, of whom the last is named."""


def _ancestors(source: Source) -> Callable[[int], Hidden]:
    language, people = source.arguments["language"], all_names(source, _needle_path(source))
    texts, end = constants("datasets.needlebench_v2.atc"), {"Chinese": "zh_CN", "English": "en"}[language]

    def hide(counter: int) -> Hidden:
        stream = random.Random(counter)
        names = stream.sample(people, source.arguments["num_needles"] + 1)
        sentences, _ = told(names, texts[f"relationship_templates_{end}"], texts[f"relationship_terms_{end}"], stream)
        stream.shuffle(sentences)
        asked = ELDEST[language].format(last=names[-1])
        return Hidden([f"\n{sentence}\n" for sentence in sentences], asked, names[0], names[-1])

    return hide


_HIDERS: Mapping[str, Callable[[Source], Callable[[int], Hidden]]] = {
    "needlebench origin": _one,
    "needlebench parallel": _parallel,
    "needlebench multi": _derived,
    "needlebench_v2 origin": _one,
    "needlebench_v2 parallel": _parallel,
    "needlebench_v2 multi": _ancestors,
}


# -- prompts ------------------------------------------------------------------------------------------------------


def _prompt(kind: str, arguments: Mapping[str, Any], context: str, hidden: Hidden) -> Any:
    """Return a row's prompt; one of upstream's is two texts, and stays so."""
    position = arguments.get("quesiton_position" if kind.startswith("needlebench_v2") else "position", "End")
    if position not in ("End", "Start"):
        raise DataError(f"there is no position '{position}'", hint="choose End or Start")
    template = prompt_texts("needles")[kind][f"{arguments['language']} {position}"]
    question = hidden.question
    if kind.startswith("needlebench ") and (arguments["guide"] or kind.endswith("origin")):
        question = _guided(question, arguments["language"], kind, guide=arguments["guide"])
    words = {"context": context, "retrieval_question": question, "last_person": hidden.person}
    return template.format(**words) if isinstance(template, str) else [part.format(**words) for part in template]


def _guided(question: str, language: str, kind: str, *, guide: bool) -> str:
    """Return a question with the advice to think first, which stands before the words about the answer's format."""
    guides: Mapping[str, str] = prompt_texts("needle guides")
    if kind.endswith("multi"):
        return question + guides[language].rstrip()
    mark = "请按照" if language == "Chinese" else "Please answer in the format"
    parts = question.split(mark)
    asked = f"{parts[0]}{guides[language]}{mark}{parts[1]}"
    if guide:
        return asked
    if language == "Chinese":  # for base models: the question ends where the answer begins
        return asked.replace("请按照'", "")[:-16]
    return asked.replace("Please answer in the format '", "")[:-10]
