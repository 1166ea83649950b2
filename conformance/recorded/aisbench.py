"""What is compared with AISBench and OpenCompass: prompts, demos, post-processors, evaluators, summaries."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.aisbench import breadth_scoring, prompts, retrievers, scoring
from conformance.aisbench.scoring_cases import evaluators, processors, summaries
from conformance.aisbench.scoring_cases import texts as drawn_texts
from conformance.recorded.recording import Answers, Case, Comparison, answer

from proctor.demos import retrievers_bm25
from proctor.errors import ProctorError

HERE = Path(__file__).resolve().parents[1] / "aisbench"
SEED = 20261122
PROMPT_CASES = {"aisbench": 160, "opencompass": 240}
"""Generated datasets of each system; each is asked with up to five meta templates, three rows, and each label."""
TEXTS = 120
"""Answers that each post-processor gets."""
SYSTEMS = ("aisbench", "opencompass")
BOTH = "opencompass and aisbench"
_ELSEWHERE = {"aisbench": ("SlidingWindowRetriever", "BM25Retriever")}
"""Retrievers that AISBench does not have."""


# -- cases --------------------------------------------------------------------------------------------------------


def asked(system: str) -> Callable[[], Iterator[Case]]:
    """Return what makes the cases of prompts of a system."""

    def cases() -> Iterator[Case]:
        made = prompts.generated(PROMPT_CASES[system], SEED)
        kept = (case for case in made if case["retriever"]["type"] not in _ELSEWHERE.get(system, ()))
        yield from (case for case in kept if not prompts.has_ties(case))
        yield from prompts.of_other_classes(PROMPT_CASES[system] // 4, SEED, system)

    return cases


def processed_cases() -> Iterator[Case]:
    """Yield answers for every post-processor."""
    texts = drawn_texts(random.Random(SEED), TEXTS)
    for case in processors():
        yield {"kind": "processor", "texts": texts, **case}


def scored_cases() -> Iterator[Case]:
    """Yield predictions for every evaluator."""
    stream = random.Random(SEED)
    for case in evaluators(stream, drawn_texts(stream, 400)):
        yield {"kind": "evaluator", **case}


def more_scored_cases() -> Iterator[Case]:
    """Yield predictions for evaluators of single exams; not those whose packages are not everywhere."""
    for case in breadth_scoring.cases(random.Random(SEED), size=20, rounds=1):
        if case["type"] not in ("FTSEvaluator", "AverageRougeScoreEvaluator"):
            yield {"kind": "evaluator", **case}


def more_processed_cases() -> Iterator[Case]:
    """Yield answers for post-processors of single exams."""
    texts = breadth_scoring.texts_of(random.Random(SEED), TEXTS)
    for case in breadth_scoring.processors():
        yield {"kind": "processor", "texts": texts, **case}


def summed_cases() -> Iterator[Case]:
    """Yield results to sum up."""
    for case in summaries(random.Random(SEED)):
        yield {"kind": "summary", **case}


def retrieved_cases() -> Iterator[Case]:
    """Yield texts and embeddings to choose from."""
    for seed in range(3):
        given = retrievers.cases(seed)
        for name, cases in given.items():
            for case in cases:
                yield {"kind": "retriever", "retriever": name, "given": case}


# -- Proctor's answers --------------------------------------------------------------------------------------------


def in_words(case: Case) -> Answers:
    """Return the prompts of a generated dataset, and the places of its demos."""
    kept, retrievers_bm25.word_tokenizer = retrievers_bm25.word_tokenizer, _split_words
    try:
        found = prompts.ours(case, {})
    finally:
        retrievers_bm25.word_tokenizer = kept
    return {"refused": found} if prompts.is_error(found) else json.loads(json.dumps(found))


def _split_words() -> Callable[[str], list[str]]:
    """Return what cuts texts at blanks, as the oracle does: NLTK's data is not everywhere."""
    return str.split


def processed(case: Case) -> Answers:
    """Return what a post-processor makes of each answer."""
    found = scoring.processed(case, case["texts"])
    return {str(place): _number(each) for place, each in enumerate(found)}


def scored(case: Case) -> Answers:
    """Return the scores of predictions."""
    return _scores(scoring.evaluated(case))


def _scores(found: Any) -> Answers:
    if not isinstance(found, Mapping) or set(found) == {"error"}:
        return {"refused" if isinstance(found, Mapping) else "value": _number(found)}
    return {str(name): _number(value) for name, value in found.items()}


def _number(value: Any) -> Any:
    """Return scores with every number as a fraction: 1 and 1.0 are one score."""
    if isinstance(value, Mapping):
        return {str(key): _number(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_number(each) for each in value]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def summed(case: Case) -> Answers:
    """Return the files of a summary, with their lines in order."""
    return _tables(scoring.summarized(case))


def _tables(files: Mapping[str, Any]) -> Answers:
    return {name: sorted(str(text).splitlines()) for name, text in files.items() if name != "txt"}


def retrieved(case: Case) -> Answers:
    """Return BM25 scores, or the chosen rows."""
    name = case["retriever"]
    (found,) = retrievers.ours({"bm25": [], "votek": [], "dpp": [], name: [case["given"]]})[name]
    return _chosen(name, found)


def _chosen(name: str, found: Any) -> Answers:
    if name == "votek":  # OpenCompass' choice ends where the rest would be drawn
        return {str(place): each for place, each in enumerate(found)}
    if name == "dpp":
        return {"value": found}
    return {str(place): [float(each).hex() for each in scores] for place, scores in enumerate(found)}


_KINDS: dict[str, Callable[[Case], Answers]] = {
    "processor": processed,
    "evaluator": scored,
    "summary": summed,
    "retriever": retrieved,
}


def ours(case: Case) -> Answers:
    """Return Proctor's answers to a case; a refusal is an answer as well."""
    try:
        return _KINDS[case["kind"]](case) if "kind" in case else in_words(case)
    except ProctorError as error:
        return {"refused": {"error": str(error)}}


# -- the systems' answers -----------------------------------------------------------------------------------------


def ask_prompts(system: str, python: str) -> Callable[[Sequence[Case]], Iterator[Answers]]:
    """Return what asks a system for prompts."""

    def ask(cases: Sequence[Case]) -> Iterator[Answers]:
        found = _through(cases, lambda given, out: [python, str(HERE / "prompts_oracle.py"), system, given, out])
        for case, answers in zip(cases, found, strict=True):
            if prompts.is_error(answers):
                yield {"refused": answers}
                continue
            parsers = {f"{parser['name']} ": parser for parser in case["parsers"]}
            yield {
                name: prompts.comparable(each, parsers[f"{name.split()[0]} "]) if " " in name else each
                for name, each in answers.items()
            }

    return ask


def _through(given: Any, command: Callable[[str, str], list[str]]) -> Any:
    """Return what a program answers to cases, from file to file."""
    with tempfile.TemporaryDirectory() as folder:
        cases, out = Path(folder) / "cases.json", Path(folder) / "answers.json"
        cases.write_text(json.dumps(given), encoding="utf-8")
        answer(command(str(cases), str(out)), Path(folder), OPENCOMPASS_DIR=scoring.WHEEL)
        return json.loads(out.read_text(encoding="utf-8"))


def ask_scores(python: str) -> Callable[[Sequence[Case]], Iterator[Answers]]:
    """Return what asks for scores of all kinds."""

    def ask(cases: Sequence[Case]) -> Iterator[Answers]:
        kind = cases[0]["kind"]
        given: dict[str, Any] = {"texts": [], "processors": [], "evaluators": [], "summaries": []}
        given |= {_PLURAL[kind]: list(cases), "texts": cases[0].get("texts", [])}
        oracle = str(HERE / "scoring_oracle.py")
        found = _through(given, lambda asked, out: [python, oracle, asked, out, scoring.WHEEL, str(Path(out).parent)])
        make = {"processor": _numbered, "evaluator": _scores, "summary": _tables}[kind]
        for case, each in zip(cases, found[_PLURAL[kind]], strict=True):
            is_f1 = case.get("type") == "SquadEvaluator" and not isinstance(each, dict)  # a bare number
            yield make({"f1": each} if is_f1 else each)

    return ask


_PLURAL = {"processor": "processors", "evaluator": "evaluators", "summary": "summaries"}


def _numbered(found: Sequence[Any]) -> Answers:
    return {str(place): _number(each) for place, each in enumerate(found)}


def ask_retrievers(python: str) -> Callable[[Sequence[Case]], Iterator[Answers]]:
    """Return what asks OpenCompass for what its retrievers choose."""

    def ask(cases: Sequence[Case]) -> Iterator[Answers]:
        given: dict[str, list[Any]] = {"bm25": [], "votek": [], "dpp": []}
        for case in cases:
            given[case["retriever"]].append(case["given"])
        found = _through(given, lambda asked, out: [python, str(HERE / "prompts_oracle.py"), "retrievers", asked, out])
        answers = {name: iter(each) for name, each in found.items()}
        yield from (_chosen(case["retriever"], next(answers[case["retriever"]])) for case in cases)

    return ask


# -- differences --------------------------------------------------------------------------------------------------


def explain(case: Case, name: str, theirs: Any, ours: Any) -> str:
    """Return the id of why an answer differs, ``""`` where it should not."""
    if case.get("kind") == "evaluator":
        return _explained_score(case, name, theirs, ours)
    if "kind" in case:
        return ""
    parser = next((each for each in case["parsers"] if name.startswith(f"{each['name']} ")), case["parsers"][0])
    return prompts.reason(case, parser, theirs, ours)


def _explained_score(case: Case, name: str, theirs: Any, ours: Any) -> str:
    whole = {"error": theirs["error"]} if name == "refused" else {name: theirs}
    return scoring.reason_of(case, {"error": ""} if prompts.is_error(ours) else {name: ours}, whole)


def comparisons(python: str = "") -> list[Comparison]:
    """Return what is compared with both systems; the Python that has AISBench is only needed to ask them."""
    made = [
        Comparison(f"aisbench/prompts-of-{system}", system, asked(system), ours, ask_prompts(system, python), explain)
        for system in SYSTEMS
    ]
    scores = ask_scores(python)
    for name, cases in (("processors", processed_cases), ("evaluators", scored_cases), ("summaries", summed_cases)):
        made.append(Comparison(f"aisbench/{name}", BOTH, cases, ours, scores, explain))
    for name, cases in (("processors", more_processed_cases), ("evaluators", more_scored_cases)):
        made.append(Comparison(f"aisbench/{name}-of-exams", "opencompass", cases, ours, scores, explain))
    choose = ask_retrievers(python)
    return [*made, Comparison("aisbench/retrievers", "opencompass", retrieved_cases, ours, choose, explain)]
