"""Post-processors that take a part of a text: its first line, what follows a phrase, a number, a marked span."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.scoring.text.how_read import or_else, taken
from proctor.scoring.text.postprocessors.general import chinese_words
from proctor.scoring.text.postprocessors.mathematics import boxed

_FINAL_PHRASES = ("The answer is: ", "The answer is ", "The final answer is: ", "The final answer is ")
_ANSWER_WORDS = {
    "en": "Answer", "bn": "উত্তর", "de": "Antwort", "es": "Respuesta", "fr": "Réponse", "ja": "答え", "ru": "Ответ",
    "sw": "Jibu", "te": "సమాధానం", "th": "คำตอบ", "zh": "答案",
}  # fmt: skip
"""How answers begin in MGSM, by language."""
_AFTER_TOOL_CALL = ("<eoa>", "<TOKENS_UNUSED_1>", "<|im_end|>", "\nuser", "\nUSER", "[INST]")
_OLYMPIAD = {
    (False, False): "So the final answer is (.*)",
    (True, False): "所以最终答案是(.*)",
    (False, True): "The answer is: (.*)",
    (True, True): "## 解题答案(.*)",
}


def unchanged(text: object) -> Any:
    """Return a text as it is."""
    return text


def shortened(text: object, max_chars: int | None = None) -> str:
    """Return the start of a text without the space at its end (``clbench_pred_postprocess``)."""
    found = "" if text is None else str(text).rstrip()
    return found[:max_chars] if max_chars is not None and max_chars > 0 else found


def first_line(text: str) -> str:
    """Return the first line of a text stripped of surrounding space, itself not stripped."""
    return text.strip().split("\n")[0]


def first_line_stripped(text: str) -> str:
    """Return the first line of a text, stripped."""
    return first_line(text).strip()


def first_line_with_words(text: str) -> str:
    """Return the words of a Chinese text's first line, separated by spaces."""
    return " ".join(chinese_words(re.sub(r"\s+", " ", first_line(text)).strip()))


def first_written_line(text: str) -> str:
    """Return the first line after any line ends at the start."""
    return text.lstrip("\n").split("\n")[0]


def record(text: str) -> str:
    """Return the first line of a text without ``Answer: ``."""
    return first_line(text).replace("Answer: ", "").strip()


def lcsts(text: str) -> str:
    """Return the headline in a text's first line, without numbering, bullets and quotation marks."""
    text = first_line(text).replace("своей", "").strip()
    for bullet in ("1. ", "- "):
        if text.startswith(bullet):
            text = text.replace(bullet, "")
    return text.strip("“，。！”")  # noqa: RUF001 - Chinese punctuation


def after_chinese_answer(text: str) -> str:
    """Return what follows the first ``答案是``, or the text."""
    return text.split("答案是")[1] if "答案是" in text else text


def bbeh_choice(text: str) -> str:
    """Return the option that a text of BBEH names, in lower case."""
    answer = _after_final_phrase(text).strip("()")
    return (answer.split("\n")[0] if "\n" in answer else answer).strip().lower()


def bbeh_freeform(text: str) -> str:
    """Return the answer of a text of BBEH, in lower case and without LaTeX and emphasis."""
    answer = _after_final_phrase(text)
    if "}" in answer:
        answer = re.sub(r"\\text(?:tt)?{(.*?)}", r"\1", re.sub(r"\\boxed{(.*?)}", r"\1", answer))
    answer = re.sub(r"\*\*(.*?)\*\*", r"\1", answer)
    return answer.split("\n")[0].strip().lower()


def _after_final_phrase(text: str) -> str:
    phrase = next((each for each in _FINAL_PHRASES if each in text), None)
    return text.rsplit(phrase, maxsplit=1)[-1] if phrase else text


def mathbench(text: str, name: str) -> str:
    """Return the number that a text of MathBench gives: the first after the phrase for answers, otherwise the last."""
    phrase = "答案是" if "_cn" in name else "The answer is"
    _, found, answer = text.partition(phrase)
    answer = answer.split(phrase)[0].strip() if found else text
    numbers = re.findall(r"-?\d*\.?/?\d+|\d+", re.sub(r"(\d),(\d)", r"\1\2", answer))
    own, by = (0, phrase) if found else (-1, "the last number")
    return taken(map(str, numbers), by, own, is_last_resort=not found) or or_else(answer, "the whole answer", "")


def scibench(text: str) -> str:
    """Return the boxed part, otherwise the last number, of what follows ``answer is``."""
    parts = text.split("answer is")
    answer = parts[1].strip() if len(parts) > 1 else text
    if "}" in answer and (match := re.search(r"\\boxed\{(.+?)\}", answer)):
        return match.group(1)
    numbers = re.findall(r"-?\d*\.?\d+|\d+", re.sub(r"(\d),(\d)", r"\1\2", answer))
    number = taken(map(str, numbers), "the last number", -1, is_last_resort=len(parts) == 1)
    return number or or_else(answer, "the whole answer", "")


def mgsm(text: str, lang: str) -> str:
    """Return the last number after a language's word for answer, or ``""``.

    Args:
        text: What a model said.
        lang: Code of the language.
    """
    word = _ANSWER_WORDS[lang]
    if word not in text:
        return ""
    numbers = re.findall(r"\d+\.?\d*", text.rsplit(word, maxsplit=1)[-1].strip().replace(",", ""))
    return (taken(numbers, word, -1) or "").rstrip(".")


def gsm100_reference(text: str) -> str:
    """Return a number without thousands separators."""
    return text.replace(",", "")


def gsm100(text: str) -> str:
    """Return the digits of the first word with a digit after ``The answer is``, or ``""``."""
    parts = text.split("The answer is")
    words = parts[1].split(" ") if len(parts) > 1 else []
    word = next((each for each in words if any(letter.isdigit() for letter in each)), "")
    return "".join(letter for letter in word if letter.isdigit())


def first_unsigned_number(text: str) -> str | None:
    """Return the first number of a text as it is written, without its sign, or ``None``."""
    return taken(re.findall(r"\d+\.\d+|\d+", text), "a number")


def olympiad(text: str, is_chinese: bool = False, is_deepseek: bool = False) -> str:
    """Return what follows the last phrase for final answers of OlympiadBench, or the text."""
    found = taken(re.findall(_OLYMPIAD[bool(is_chinese), bool(is_deepseek)], text), "the phrase for answers", -1)
    return or_else(text, "the whole answer", "") if found is None else str(found).strip()


def gpqa_option(text: str) -> str | None:
    """Return the option that follows ``ANSWER:``, or ``None``."""
    return taken(re.findall(r"(?i)ANSWER\s*:\s*([A-D])", text), "ANSWER:")


def game24(text: str) -> str:
    """Return the left side of the equation in a text's last line."""
    return text.strip().split("\n")[-1].lower().replace("answer: ", "").split("=")[0]


def yes_or_no(text: str) -> str:
    """Return the first ``yes`` or ``no`` after ``answer is`` in a text's first paragraph, or ``""``."""
    start = text.split("\n\n", maxsplit=1)[0].rsplit("answer is ", maxsplit=1)[-1].lower()
    return taken(re.findall("yes|no", start), "yes or no") or ""


def yes_if_true(value: object) -> str:
    """Return ``yes`` for what is written ``True``, otherwise ``no``."""
    return "yes" if str(value) == "True" else "no"


def crowspairs(text: str) -> str:
    """Return which of two sentences a text chooses, ``A`` or ``B``, or ``invalid``."""
    if not text or "Neither" in text or "Both" in text:
        return "invalid"
    if text[0] in "AB":
        return text[0]
    return next((each for each in "AB" if f" {each} " in text or re.search(f"{each}.", text)), "invalid")


def theoremqa(text: str) -> str:
    """Return the word after the first ``answer is``, without punctuation around it, or the text."""
    text = text.strip()
    found = taken(re.findall(r"answer is ([^\s]+)", text), "answer is")
    return or_else(text, "the whole answer", "") if found is None else str(found).strip().strip(".,?!\"';:")


def theoremqa_last_line(text: str) -> str:
    """Return the words of a text's last line after its last ``is``, ``be``, ``are`` or colon."""
    kept: list[str] = []
    for word in reversed(text.strip().strip("\n").split("\n")[-1].split(" ")):
        if word in ("is", "be", "are") or word.endswith(":"):
            break
        kept.insert(0, word)
    return " ".join(kept).strip().strip(".")


def material(text: str | None) -> str:
    """Return what the first pair of ``<material>`` tags holds, or ``""``."""
    match = re.search("<material>(.*?)</material>", text or "", re.DOTALL | re.IGNORECASE)
    return match.group(1).strip() if match else ""


def tool_call(text: object) -> str:
    """Return the JSON of a tool call: up to the end of the turn, without fences and doubled braces."""
    if isinstance(text, str):
        for end in _AFTER_TOOL_CALL:
            text = text.split(end)[0]
        text = text.strip().removeprefix("```json").strip("`").strip()
        if text[:2] == "{{" and text[-2:] == "}}":
            text = text[1:-1]
    return str(text)


def with_language(text: str, lang_code: str) -> tuple[str, str]:
    """Return a text with the code of its language."""
    return text, lang_code


def with_full_language(text: str, lang_fullname: str) -> tuple[str, str]:
    """Return a text with the name of its language."""
    return text, lang_fullname


def ancestor(text: str) -> str:
    """Return the name in the last box without LaTeX, quotes and extra space; ``None`` (a word) where there is none."""
    return plain_name(boxed(text, double=True))


def plain_name(answer: str | None) -> str:
    """Return a name without LaTeX, quotes and extra space; ``None`` (a word) where there is none."""
    if not answer or answer == "None":
        return "None"
    for pattern in (r"\\text\{([^}]+)\}", r"\\boxed\{([^}]+)\}"):
        answer = re.sub(pattern, r"\1", answer)
    answer = re.sub(r"\\[\[\]]", "", answer).replace("\\", "")
    return re.sub(r"\s+", " ", answer).strip().replace('"', "").replace("'", "").replace("~", " ")


def selected_letters(text: str) -> str:
    """Return the capital letters of a text, each once, sorted: ``A, C`` (SeedBench)."""
    return ", ".join(sorted({letter for letter in text if letter.isupper()}))


def selection(text: str | None) -> str:
    """Return the selection that a text names, ``Selection 3``; else the text (ArxivRollBench)."""
    text = "" if text is None else str(text).strip()
    patterns = (r"\bselection\s*([1-4])\b", r"\b([1-4])\b")
    for place, by in enumerate(("Selection", "a number by itself")):
        if number := taken(re.findall(patterns[place], text, re.IGNORECASE), by, is_last_resort=bool(place)):
            return f"Selection {number}"
    return or_else(text, "the whole answer", "")


def first_of_four(text: str | None) -> str:
    """Return the first of A, B, C and D that stands alone, else the text (ArxivRollBench)."""
    text = "" if text is None else str(text).strip()
    letter = taken(re.findall(r"\b([ABCD])\b", text, re.IGNORECASE), "a letter by itself")
    return or_else(text, "the whole answer", "") if letter is None else str(letter).upper()


def boolean_tag(text: str) -> str | None:
    """Return yes or no as SmolInstruct marks them, where a text has either."""
    word = next((word for word in ("Yes", "No") if word.lower() in text.lower()), None)
    return None if word is None else f"<BOOLEAN> {word} </BOOLEAN>"


# -- SciReasoner --------------------------------------------------------------------------------------------------

_SAYS_NO = r"\b(?:negative|no|absence|not|cannot|fails|absent|lacks)\b"
_YES_WORDS = (
    "positive positively presence detected identified identifiable found yes located detectable observable evident "
    "absolutely affirmative can affirm confirm confirms reveals existence certainly consistent recognizable includes "
    "recognized displays yep"
)
_YES_PHRASES = (
    "shows core", "shows promoter", "shows characteristic", "evidenced by", "seeing characteristic patterns",
    "contains sequences", "exhibits clear", "contains transcription", "exhibits sequences", "clearly contains",
    "exhibits features", "contains regulatory", "shows clear", "definitely has", "exhibits patterns", "clear evidence",
    "contains a", "contains sites", "shows sequences",
)  # fmt: skip
_SAYS_YES = rf"\b(?:{'|'.join((*_YES_WORDS.split(), *_YES_PHRASES))})\b"


def _without_thoughts(text: str) -> str:
    """Return a text without what stands between marks of thoughts; nothing where they are not closed."""
    if "<think>" not in text:
        return text
    return re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL) if "</think>" in text else ""


def positive_or_negative(text: object) -> str:
    """Return what a text says of a sequence: ``positive``, ``negative`` or nothing (GUE in SciReasoner)."""
    text = _without_thoughts(text.strip()) if isinstance(text, str) else ""
    match = re.search(r"\bThe prediction result is\s+(positive|negative)\b", text, re.IGNORECASE)
    if match is not None:
        return match.group(1).lower()
    says = (("negative", _SAYS_NO), ("positive", _SAYS_YES))
    return next((name for name, words in says if re.search(words, text, re.IGNORECASE)), "")


_DIRECTNESS = {"indirect": "Indirect", "direct": "Direct"}
_TRUTH = {"true": "True", "yes": "True", "false": "False", "no": "False"}
_OPTIONS_OF_PROPERTIES = {
    **{name: _DIRECTNESS for name in ("Direct_or_indirect", "Direct_or_indirect_HSE")},  # noqa: C420 - see below
    **{name: _TRUTH for name in ("SOC", "is_gap_direct", "is_stable")},  # noqa: C420 - nobody changes them
}


def material_property(text: object, property: str) -> str | float:  # noqa: A002 - what configs call it
    """Return the value of a property in an answer's JSON, or in what looks like it (LLM4Mat in SciReasoner)."""
    if not isinstance(text, str) or not (text := _without_thoughts(text.strip())):
        return ""
    text = re.sub(r"^```(?:json)?\s*|(?:(?<!\s)\s++)?```$", "", text.strip(), flags=re.IGNORECASE | re.MULTILINE)
    options = _OPTIONS_OF_PROPERTIES.get(property)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and property in found:
        value = found[property]
        if isinstance(value, int | float):
            return float(value)
        return str(value) if options is None else options.get(str(value).lower(), "")
    return _property_in_words(text, property, options)


def _property_in_words(text: str, property: str, options: Mapping[str, str] | None) -> str | float:  # noqa: A002
    name = re.escape(property)
    match = re.search(rf"\{{[^{{}}]*[\"']?{name}[\"']?\s*:\s*[\"']?(.*?)[\"']?\s*\}}", text, re.DOTALL | re.IGNORECASE)
    if match is None:
        return ""
    words = match.group(1).strip().strip('"')
    if options is not None:
        return options.get(words.lower(), "")
    try:
        return float(words)
    except ValueError:
        return ""


def listed_answers(text: str | None, think_tags: Sequence[str] = ("<think>", "</think>")) -> dict[str, Any]:
    """Return the JSON with the answers that a text ends with, and whether none was found (ATLAS)."""
    text = (text or "").split(think_tags[1])[-1]
    fenced = re.search(r"```json\n(.*?)\n```", text, re.DOTALL) or re.search(r"```(.*?)```", text, re.DOTALL)
    if fenced is not None:
        return {"extract_error": False, "answers": _escaped(fenced.group(1).strip())}
    if '"answers":' in text:
        return {"extract_error": False, "answers": _escaped('{\n"answers"' + text.split('"answers"')[-1])}
    return {"extract_error": True, "answers": '{"answers": []}'}


def _escaped(text: str) -> str:
    return re.sub(r"(?<!\\)\\(?![\\/\"bfnrtu])", r"\\\\", text)
