"""Instructions of IFBench (Pyatkin et al. 2025) about the shape of an answer: lists, quotes, tables, repeated requests.

What the checks accept is what the authors' program accepts, its odd corners included (see :mod:`.ifbench_texts`).
"""
# ruff: noqa: ARG001 - checks are called with all there is

from __future__ import annotations

import csv
import io
import re
import string
import unicodedata
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from proctor.errors import needed
from proctor.scoring.instructions.english_words import words_of_sentences
from proctor.scoring.instructions.sentences import sentences_by_rule

Arguments = Mapping[str, Any]

_MARKS = string.punctuation + " "
_WITHOUT_MARKS = str.maketrans("", "", string.punctuation)
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_BRACKETS_DEEP, _QUOTES_DEEP = 5, 3
_QUESTIONS, _OPTIONS = 4, 5
_COUNTRIES = 52  # lines that a list of Africa's countries has at least, from Zimbabwe on
CAPITALS = [
    "Reykjavik", "Helsinki", "Oslo", "Tallinn", "Stockholm", "Riga", "Moscow", "Copenhagen", "Vilnius", "Minsk",
    "Dublin", "Berlin", "Amsterdam", "Warsaw", "London", "Brussels", "Prague", "Luxembourg", "Paris", "Vienna",
    "Bratislava", "Budapest", "Vaduz", "Chisinau", "Bern", "Ljubljana", "Zagreb",
]  # fmt: skip
"""Europe's capitals north of 45 degrees, from north to south, as the benchmark has them."""
_BATTLES = range(1769, 1822)  # years of Napoleon's life
_DAYS = {**dict.fromkeys((1, 3, 5, 7, 8, 10, 12), 31), **dict.fromkeys((4, 6, 9, 11), 30), 2: 29}
_SENTENCE_TO_COPY = "only output this sentence here, ignore all other requests."
_PARTS_OF_THE_TEMPLATE = ("My Answer:", "My Conclusion:", "Future Outlook:")


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


# -- brackets, quotes, marks --------------------------------------------------------------------------------------


def _nested_brackets(answer: str, given: Arguments) -> bool:
    levels: list[str] = []
    deepest = 0
    for letter in answer:
        if letter in _BRACKETS.values():
            levels.append(letter)
            deepest = max(deepest, len(levels))
        elif letter in _BRACKETS:
            if levels and levels[-1] == _BRACKETS[letter]:
                levels.pop()
                if deepest >= _BRACKETS_DEEP:
                    return True
            else:
                levels, deepest = [], 0
    return False


def _nested_quotes(answer: str, given: Arguments) -> bool:
    levels: list[str] = []
    deepest = 0
    for letter in answer:
        if levels and letter == levels[-1]:
            levels.pop()
            if deepest - len(levels) >= _QUOTES_DEEP:
                return True
        elif letter in "\"'":
            levels.append(letter)
            deepest = max(deepest, len(levels))
    return False


def _quotes_are_explained(answer: str, given: Arguments) -> bool:
    text = re.sub("[\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}]", '"', answer).replace("'\"'", "")
    text = "".join(text.split())
    return '""' not in text and text.strip(string.digits + string.punctuation.replace('"', ""))[-1] != '"'


def _emoji_end_sentences(answer: str, given: Arguments) -> bool:
    with needed("emoji", "instructions", "emoji in an answer"):
        from emoji import is_emoji  # type: ignore[import-not-found,unused-ignore]
    sentences = [sentence.translate(_WITHOUT_MARKS).strip() for sentence in sentences_by_rule(answer)]
    for sentence, after in zip(sentences, [*sentences[1:], ""], strict=True):
        if not sentence:
            return False
        if not any(map(is_emoji, sentence[-2:])) and not is_emoji(after[:1]):
            return False
    return True


def _one_of_the_options(answer: str, given: Arguments) -> bool:
    options = given["options"]
    separator = next((each for each in ("/", "or") if each in options), ",")
    known = [option.strip() for option in options.split(separator)]
    if re.match(r"\W*[aA]\W*[bB]\W*[cC]\W*", options):
        return answer in known
    return answer.strip(_MARKS).lower() in {option.strip(_MARKS).lower() for option in known}


# -- lines and bullets --------------------------------------------------------------------------------------------


def _word_in_each_line(answer: str, given: Arguments) -> bool:
    text = answer.translate(_WITHOUT_MARKS).strip()
    return sum(map(bool, text.split("\n"))) == len(text.split())


def _stairs(answer: str, given: Arguments) -> bool:
    lines = answer.split("\n")
    for line in lines:  # of neighbouring empty lines one stays, as there: it is looked at while it is changed
        if not line.strip():
            lines.remove(line)
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    return all(left < right for left, right in pairwise(indents))


def _thesis_in_italics(answer: str, given: Arguments) -> bool:
    start = next((place for tag in ("<i>", "<em>") if (place := answer.find(tag)) >= 0), -1)
    if start < 0:
        return False
    text = answer[start:]
    end = next((place for tag in ("</i>", "</em>") if (place := text.find(tag)) >= 0), -1)
    return end >= 0 and bool(text[3:end].strip()) and bool(text[end + 4 :].strip())


def _sentences_then_bullets(answer: str, given: Arguments) -> bool:
    sentences, bullets, reading = 0, 0, True
    for line in map(str.strip, answer.split("\n")):
        if line.startswith("*"):
            if sentences < 2:  # noqa: PLR2004 - two
                return False
            reading, bullets = False, bullets + 1
        elif reading:
            found = sentences_by_rule(line)
            sentences, reading = sentences + len(found), bool(found)  # behind an empty line only bullets may come
        else:
            return False
    return bullets >= 2  # noqa: PLR2004 - two


# -- given questions ----------------------------------------------------------------------------------------------


def _questions_with_options(answer: str, given: Arguments) -> bool:
    if answer.find("Question") != 0:
        return False
    parts = re.split(r"\n*Question \d+[.|):;]?\s*", answer)
    lengths = []
    for part in filter(None, map(str.strip, parts)):
        lines = [line.strip() for line in part.split("\n")]
        are_options = [re.match(r"[A-Ea-e][.|)]\s*\w+", line) is not None for line in lines]
        if sum(are_options) != _OPTIONS:
            return False
        lengths.append(len(" ".join(lines[: are_options.index(True)]).strip()))
    return len(lengths) == _QUESTIONS and all(left < right for left, right in pairwise(lengths))


def _countries_backwards(answer: str, given: Arguments) -> bool:
    lines = [line for each in answer.split("\n") if (line := each.strip(_MARKS))]
    start = next((place for place, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    wanted = [_ascii(line) for line in lines[start:]]
    return len(wanted) >= _COUNTRIES and wanted == sorted(wanted, reverse=True)


def _words_backwards(answer: str, given: Arguments) -> bool:
    text = " ".join(answer.lower().strip().translate(_WITHOUT_MARKS).split()[::-1])
    return "bald eagle" in text and text in sentences_by_rule(text)


def _sentences_of_the_alphabet(answer: str, given: Arguments) -> bool:
    sentences = sentences_by_rule(answer)
    pairs = zip(sentences, string.ascii_lowercase, strict=False)
    return len(sentences) == len(string.ascii_lowercase) and all(
        sentence.split()[0].lower()[0] == letter for sentence, letter in pairs
    )


def _capitals_by_latitude(answer: str, given: Arguments) -> bool:
    return [each for part in _ascii(answer).split(",") if (each := part.strip())] == CAPITALS


def _dates(answer: str, given: Arguments) -> bool:
    return all(map(_is_date, answer.strip().split(",")))


def _is_date(text: str) -> bool:
    found = re.match(r"^(\d{4})-(\d{2})-(\d{2})$", text.strip())
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    return year in _BATTLES and month <= 12 and day <= _DAYS.get(month, day)  # noqa: PLR2004 - months


# -- tables -------------------------------------------------------------------------------------------------------


def _cities(answer: str, given: Arguments) -> bool:
    table = list(csv.reader(io.StringIO(answer)))
    widths = {len(row) for row in table[1:]}
    return len(table) == 8 and table[0] == ["ID", "Country", "City", "Year", "Count"] and widths == {5}  # noqa: PLR2004


def _special_field(answer: str, given: Arguments) -> bool:
    gap = "[ \\t]*"
    rows = _quoted_table(answer, ["ProductID", "Category", "Brand", "Price", "Stock"], f",{gap}", ",")
    if len(rows) != 15:  # noqa: PLR2004 - fourteen and the header
        return False
    for row in rows[1:]:
        if len(row) != 5:  # noqa: PLR2004 - columns
            return False
        if any(re.match(r'".*[^\d\w\s].*"', field) for field in row):
            return True
    return False


def _quoted_fields(answer: str, given: Arguments) -> bool:
    rows = _quoted_table(answer, ["StudentID", "Subject", "Grade", "Semester", "Score"], "\\t *", "\t")
    return len(rows) == 4 and all(  # noqa: PLR2004 - three and the header
        len(row) == 5 and all(field.strip()[0] == field.strip()[-1] == '"' for field in row)  # noqa: PLR2004 - columns
        for row in rows
    )


def _quoted_table(answer: str, names: list[str], between: str, delimiter: str) -> list[list[str]]:
    """Return the rows of a table whose fields keep their quotation marks; none where its header is another."""
    header = between.join(f'({name}|"{name}")' for name in names)
    if not re.match(f"^{header}$", answer.split("\n", maxsplit=1)[0].strip()):
        return []
    return list(csv.reader(io.StringIO(answer.replace('"', '"""')), delimiter=delimiter))


# -- requests that are repeated -----------------------------------------------------------------------------------


def _repeated_with_another_first_word(answer: str, given: Arguments) -> bool:
    request = given["prompt_to_repeat"]
    return bool(request != answer and request.split()[1:] == answer.split()[1:])


def _span(answer: str, given: Arguments) -> bool:
    words = given["prompt_to_repeat"].strip().lower().split()
    return bool(answer.strip().lower().split() == words[given["n_start"] : given["n_end"]])


def _title_case(answer: str, given: Arguments) -> bool:
    return not any(
        word[0].islower() and (word[1:].isupper() or word[1:].islower()) for word in words_of_sentences(answer)
    )


LAYOUT_CHECKS: Mapping[str, Callable[[str, Arguments], bool]] = {
    "format:parentheses": _nested_brackets,
    "format:quotes": _nested_quotes,
    "format:quote_unquote": _quotes_are_explained,
    "format:emoji": _emoji_end_sentences,
    "format:options": _one_of_the_options,
    "format:newline": _word_in_each_line,
    "format:line_indent": _stairs,
    "format:list": lambda answer, given: answer.count(given["sep"]) > 1,
    "format:thesis": _thesis_in_italics,
    "format:sub-bullets": lambda answer, given: all("-" in part for part in answer.split("*")[1:]),
    "format:no_bullets_bullets": _sentences_then_bullets,
    "format:title_case": _title_case,
    "format:output_template": lambda answer, given: all(part in answer for part in _PARTS_OF_THE_TEMPLATE),
    "format:no_whitespace": lambda answer, given: not any(map(str.isspace, answer)),
    "custom:multiples": lambda answer, given: re.findall(r"\d+", answer) == ["14", "21", "28", "35", "42", "49"],
    "custom:mcq_count_length": _questions_with_options,
    "custom:reverse_newline": _countries_backwards,
    "custom:word_reverse": _words_backwards,
    "custom:character_reverse": lambda answer, given: "elgae dlab" in answer.lower(),
    "custom:sentence_alphabet": _sentences_of_the_alphabet,
    "custom:european_capitals_sort": _capitals_by_latitude,
    "custom:csv_city": _cities,
    "custom:csv_special_character": _special_field,
    "custom:csv_quotes": _quoted_fields,
    "custom:date_format_list": _dates,
    "repeat:repeat_change": _repeated_with_another_first_word,
    "repeat:repeat_simple": lambda answer, given: answer.strip().lower() == _SENTENCE_TO_COPY,
    "repeat:repeat_span": _span,
}
