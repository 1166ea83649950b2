"""What a log holds as an exam hears it: answers of engines and of older logs that do not tell thoughts apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from running_fakes import ToyEngine, ToyExam, question, talk

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Answers, Decoding, Failure, Generate, Prompt, Response, Scored, Usage
from proctor.recipes.options import ExamOptions
from proctor.running import ResponseLog, run_exams
from proctor.running.judging import judges_through
from proctor.running.listening import listening, measured

RAW = ExamOptions(answers="raw")


class Thinker(ToyEngine):
    """An engine of long ago, or of a package: it gives what the model wrote as it stands."""

    style: str = "closed"

    def generate(self, requests: Iterable[Generate]) -> Answers:
        for position, request in enumerate(requests):
            self.asked[request.key] += 1
            yield position, STYLES[self.style](request.prompt.text.splitlines()[-1])


STYLES: dict[str, Callable[[str], Response]] = {
    "closed": lambda words: said(f"<think>hm</think>\n\n{words.upper()}"),
    "open": lambda words: said(f"<think>hm, {words}", "length"),
    "apart": lambda words: replaced(said(words.upper()), thoughts=("hm",)),
    "lost": lambda words: replaced(said(""), thoughts=("hm",)),
}


def said(text: str, reason: str = "stop") -> Response:
    return Response(texts=(text,), finish_reasons=(reason,), usage=Usage(3, 9))


def replaced(response: Response, **values: Any) -> Response:
    return Response(response.texts, (), response.finish_reasons, usage=response.usage, **values)


def graded(tmp_path, style: str, options: ExamOptions = ExamOptions(), *makers: Any, dialect: str = "") -> Any:  # noqa: B008
    exam = ToyExam("a", 1, *makers)
    joint = "</think>" if dialect == "aisbench" else None
    exam = replace(exam, options=options, dialect=dialect or exam.dialect, joint=joint)
    engine = Thinker(style=style)
    result = run_exams([exam], engine, log=tmp_path / "log.db")
    grade = result.grades["a"]
    return grade.failures.get(0) or grade.predictions[0], sum(engine.asked.values())


@pytest.mark.parametrize("style", ["closed", "apart"])
def test_the_answer_is_graded_and_nobody_is_asked_twice(tmp_path, style):
    assert graded(tmp_path, style) == ([["A 0"]], 1)
    assert graded(tmp_path, style) == ([["A 0"]], 0)


@pytest.mark.parametrize("style", ["open", "lost"])
def test_thoughts_without_an_answer_are_a_failure_without_another_request(tmp_path, style):
    failure, asked = graded(tmp_path, style)
    assert (failure.kind, asked) == ("thinking", 1)
    assert "all 9 tokens" in failure.message
    assert graded(tmp_path, style) == (failure, 0)


def test_a_failure_that_an_engine_files_is_kept_and_not_asked_again(tmp_path):
    engine = ScriptedEngine(function=lambda prompt: said("<think>hm", "length"))
    with ResponseLog(tmp_path / "log.db") as log:
        for asked in (1, 0):
            result = run_exams([ToyExam("a", 1)], engine, log=log)
            assert result.grades["a"].failures[0].kind == "thinking"
            assert result.run["requests"]["asked"] == asked
        stats = log.stats()
    assert (stats.responses, stats.failures) == (1, 0)


@pytest.mark.parametrize(
    "style, dialect, text",
    [
        ("closed", "unitxt", "<think>hm</think>\n\nA 0"),
        ("closed", "aisbench", "<think>hm</think>\n\nA 0"),
        ("open", "lm_eval", "<think>hm, a 0"),
        ("apart", "lm_eval", "A 0"),
        ("apart", "aisbench", "hm</think>A 0"),
        ("lost", "lm_eval", ""),
        ("lost", "aisbench", "hm"),
    ],
)
def test_raw_is_what_the_system_sees_that_the_exam_comes_from(tmp_path, style, dialect, text):
    assert graded(tmp_path, style, RAW, dialect=dialect)[0] == [[text]]
    assert graded(tmp_path, style, RAW, dialect=dialect) == ([[text]], 0)


def test_raw_reads_what_a_run_without_it_filed(tmp_path):
    engine = ScriptedEngine(answer="<think>hm</think>\n\nyes")
    exam = ToyExam("a", 1)
    for options, expected in ((ExamOptions(), "yes"), (RAW, "<think>hm</think>\n\nyes")):
        result = run_exams([replace(exam, options=options)], engine, log=tmp_path / "log.db")
        assert result.grades["a"].predictions == [[[expected]]]
    assert result.run["requests"]["asked"] == 0


def test_turns_carry_the_answer_only_unless_all_is_heard(tmp_path):
    second, third = "AND THEN?", "AND LAST?"
    assert graded(tmp_path, "closed", ExamOptions(), talk) == ([["A 0", second, third]], 3)
    thoughts = "<think>hm</think>\n\n"
    raw, asked = graded(tmp_path, "closed", RAW, talk)
    assert (raw, asked) == ([[f"{thoughts}A 0", f"{thoughts}{second}", f"{thoughts}{third}"]], 2)  # the first is filed
    assert graded(tmp_path, "closed", ExamOptions(), talk)[1] == 0


def test_turns_carry_thoughts_where_the_user_says_that_the_model_wants_them(tmp_path):
    asked = []

    def answer(prompt):
        asked.append(prompt.payload)
        return "<think>hm</think>yes"

    engine = ScriptedEngine(function=answer)
    keeping = type("Keeping", (ScriptedEngine,), {"keeps_thoughts": property(lambda self: True)})(function=answer)
    for each in (engine, keeping):
        asked.clear()
        run_exams([ToyExam("a", 1, talk)], each, log=tmp_path / f"{type(each).__name__}.db")
        turn = {"role": "assistant", "content": "yes"}
        assert asked[1][1] == (turn if each is engine else {**turn, "reasoning_content": "hm"})


def test_a_conversation_ends_where_there_is_no_answer(tmp_path):
    failure, asked = graded(tmp_path, "open", ExamOptions(), talk)
    assert (failure.kind, asked) == ("thinking", 1)
    assert len(graded(tmp_path, "open", RAW, talk)[0][0]) == 3


def test_a_judges_answer_is_heard_too(tmp_path):
    judge = Thinker()
    request = Generate(Prompt("well?"))
    with judges_through(tmp_path / "log.db") as judging:
        [(_, first)] = judging.answer(judge, [request])
        [(_, again)] = judging.answer(judge, [request])
    assert (first.text, again.text, sum(judge.asked.values())) == ("WELL?", "WELL?", 1)


def test_other_failures_stay_whatever_is_heard():
    failed = Response(failure=Failure("timeout", "slow"))
    exam = replace(ToyExam("a", 1), options=RAW)
    assert listening(ToyEngine(), exam)(question("a", 0), failed) is failed
    assert listening(ToyEngine())(question("a", 0), failed) is failed


def test_raw_texts_end_where_the_system_ends_them():
    """Stop strings count in thoughts for systems that do not know of thoughts; here they did not."""
    heard = listening(ToyEngine())(question("a", 0), said("<think>one\ntwo</think>three"))
    request = Generate(Prompt("a"), Decoding(stop=("\n",)))
    assert listening(ToyEngine(), replace(ToyExam(), options=RAW))(request, heard).texts == ("<think>one",)


def test_an_old_answer_of_a_model_whose_template_begins_its_thoughts():
    engine = OpenAIEngine(model="deepseek-ai/DeepSeek-R1", base_url="http://127.0.0.1:1")
    cut = listening(engine)(question("a", 0), said("I think that", "length"))
    assert cut.failure is not None
    assert cut.failure.kind == "thinking"
    assert listening(engine)(question("a", 0), said("positive")).texts == ("positive",)


def test_an_old_answer_whose_thoughts_were_cut_off_when_it_was_written(tmp_path):
    """``hf`` filed what stood behind ``think_end_token``; logs of these engines have no mark, and no thoughts."""
    engine = HFEngine(model=str(tmp_path), think_end_token="</think>")
    assert listening(engine)(question("a", 0), said("positive")).texts == ("positive",)


def test_an_answer_without_thoughts_is_the_same_object():
    for text in ("positive", "The <think> tag.", "a\n\nb", "0"):
        response = said(text)
        assert listening(ToyEngine())(question("a", 0), response).texts == (text,)
    response = said("positive", "length")
    assert listening(ToyEngine())(question("a", 0), response) is response


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_likelihood_is_a_failure_and_lets_no_choice_win(tmp_path, value):
    lines = "".join(f'{{"question": "item {n}?", "options": ["yes", "no"], "answer": "no"}}\n' for n in range(6))
    (tmp_path / "exam.ndjson").write_text(lines)
    (exam,) = resolve_tasks([str(tmp_path / "exam.ndjson")], ExamOptions())

    def likelihood(context, continuation):
        if "item 3" in context:
            return value
        return -1.0 if continuation.endswith(("no", "B")) else -2.0

    for _ in range(2):  # asked, and from the log
        engine = ScriptedEngine(log_likelihood=likelihood)
        ran = run_exams([exam], engine, log=tmp_path / "log.db", retry_failed=False)
        (entry,) = ran.results.values()
        assert (entry["n"], entry["failure_kinds"], entry["score"]) == (6, {"engine": 1}, 1.0)
    (failure,) = next(iter(ran.grades.values())).failures.values()
    assert "not a measurement" in failure.message
    assert measured(Response(scores=(Scored(-math.inf), Scored(-1.0)))).failure is None
