"""Judges ask through the response log."""

from __future__ import annotations

import json
import threading
from collections import Counter

import pytest
import tests_commands

from proctor import (
    DatasetRecipe,
    InputOutputTemplate,
    LoadFromDictionary,
    Task,
    TaskCard,
    create_dataset,
    evaluate,
    make_engine,
)
from proctor.artifacts import add_to_catalog
from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.unitxt.resolve import exams_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import EngineError, PolicyError, UsageError
from proctor.ir import Decoding, Failure, Generate, Prompt, Response, Usage
from proctor.recipes import load_recipe
from proctor.recipes.options import ExamOptions
from proctor.running.budget import Allowance, Price, PriceTable
from proctor.running.judging import JudgeCounts, Judging, judges_through
from proctor.running.log import ResponseLog
from proctor.running.maintenance import engines
from proctor.running.progress import SilentObserver
from proctor.running.run import run_exams
from proctor.running.shards import Shard, ask_shard
from proctor.scoring.judges.criteria import CriteriaOption, CriteriaWithOptions
from proctor.scoring.judges.direct import LLMJudgeDirect
from proctor.settings import settings
from proctor.testing.faults import Fault, Faults
from proctor.testing.server import FaultServer

POLITE = CriteriaWithOptions(
    name="politeness",
    description="Is the answer polite?",
    options=[CriteriaOption(name="Yes"), CriteriaOption(name="No")],
    option_map={"Yes": 1.0, "No": 0.0},
)
PREDICTIONS = ["Six o'clock, madam.", "Go away!", "Six o'clock, madam."]
REQUESTS = 2 * 2 * 2  # two different answers, two orders of the options, an assessment and a choice


ASKED: Counter[str] = Counter()
"""How often each scripted judge was asked. A judge that counts by itself would be another engine after each count."""


class Judge:
    """A scripted judge that is counted."""

    def __init__(self, name="judge", answer="Yes"):
        self.name = name
        self.answer = answer
        ASKED[name] = 0

    @property
    def asked(self):
        return ASKED[self.name]

    def engine(self, **fields):
        name, answer = self.name, self.answer

        def reply(prompt):
            ASKED[name] += 1
            return answer(prompt) if callable(answer) else answer

        return ScriptedEngine(function=reply, **fields)


def exam(engine, policy=None, **fields):
    judge = LLMJudgeDirect(inference_engine=engine, criteria=POLITE, context_fields=["question"], **fields)
    task = Task(input_fields={"question": str}, reference_fields={}, prediction_type=str, metrics=[])
    rows = create_dataset(
        task=task,
        test_set=[{"question": "How late is it?"} for _ in PREDICTIONS],
        template=InputOutputTemplate(input_format="{question}", output_format=""),
        split="test",
        data_classification_policy=policy,
    )
    return [{**row, "metrics": [judge]} for row in rows]  # a function cannot be written into a dataset


def test_a_second_evaluation_asks_nothing(tmp_path):
    judge, log = Judge(), tmp_path / "log.db"
    first = evaluate(PREDICTIONS, exam(judge.engine()), log=log)
    assert judge.asked == REQUESTS
    second = evaluate(PREDICTIONS, exam(judge.engine()), log=log)
    assert judge.asked == REQUESTS
    assert list(first) == list(second)
    assert first.metadata["judges"]["scripted"]["asked"] == REQUESTS
    counts = second.metadata["judges"]["scripted"]
    assert (counts["asked"], counts["from_log"]) == (0, 4 * len(PREDICTIONS))


def test_whoever_watches_hears_of_every_answer(tmp_path):
    judge, heard = Judge(), []

    def watch(name, counts):
        heard.append((name, counts.done, counts.total))

    for _ in range(2):
        with judges_through(tmp_path / "log.db", watch=watch):
            evaluate(PREDICTIONS, exam(judge.engine()))
    assert heard == [("scripted", done, 4) for done in (1, 2, 3, 4)] * 2  # two rounds of four; then the log answers


def test_a_run_tells_its_observer_of_judges(tmp_path):
    heard = []

    class Watching(SilentObserver):
        def judging(self, judge, progress):
            heard.append((judge, progress.failed))

    judge, recipe = Judge(), load_recipe("samples.sentiment")
    recipe.metrics = [LLMJudgeDirect(inference_engine=judge.engine(), criteria=POLITE, context_fields=[])]
    engine = ScriptedEngine(answer="At six.")
    run_exams(exams_of("s", recipe), engine, limit=2, log=tmp_path / "log.db", observer=Watching())
    assert heard == [("scripted", 0)] * judge.asked
    assert heard


def test_the_log_knows_the_judge(tmp_path):
    log = tmp_path / "log.db"
    evaluate(PREDICTIONS, exam(ScriptedEngine(answer="Yes", model="strict")), log=log)
    with ResponseLog(log, read_only=True) as opened:
        [found] = engines(opened)
    assert (found.label, found.responses) == ("strict", REQUESTS)


def test_the_log_is_the_users_own_by_default():
    judge = Judge()
    for _ in range(2):
        evaluate(PREDICTIONS, exam(judge.engine()))
    assert judge.asked == REQUESTS


def test_an_evaluation_without_judges_leaves_no_log(tmp_path):
    task = Task(input_fields={"q": str}, reference_fields={"a": str}, prediction_type=str, metrics=["metrics.accuracy"])
    template = InputOutputTemplate(input_format="{q}", output_format="{a}")
    data = create_dataset(task=task, test_set=[{"q": "1", "a": "2"}], template=template, split="test")
    evaluate(["2"], data, log=tmp_path / "log.db")
    assert not (tmp_path / "log.db").exists()


def test_another_judge_is_asked_anew(tmp_path):
    one, two = Judge("one"), Judge("two")
    evaluate(PREDICTIONS, exam(one.engine()), log=tmp_path / "log.db")
    evaluate(PREDICTIONS, exam(two.engine(model="another")), log=tmp_path / "log.db")
    assert two.asked == REQUESTS


def test_what_failed_is_a_value_and_asked_again(tmp_path):
    ASKED["broken"] = True

    def answer(prompt):
        if ASKED["broken"] and "Go away" in prompt.text:
            return Response(failure=Failure("timeout", "too slow"))
        return "Yes"

    judge, log = Judge(answer=answer), tmp_path / "log.db"
    results = evaluate(PREDICTIONS, exam(judge.engine()), log=log)
    assert results.failures == {1: {"kind": "timeout", "message": "too slow"}}
    assert results.global_scores["num_of_failures"] == 1
    assert results.metadata["judges"]["scripted"]["failed"] == 2
    ASKED["broken"] = False
    asked = judge.asked
    with judges_through(log, retry_failed=False):
        assert evaluate(PREDICTIONS, exam(judge.engine())).failures.keys() == {1}
    assert judge.asked == asked
    assert evaluate(PREDICTIONS, exam(judge.engine()), log=log).failures == {}
    assert judge.asked == asked + 4


def test_data_that_the_judge_may_not_see_is_refused_before_it_is_sent(tmp_path):
    judge = Judge()
    data = exam(judge.engine(data_classification_policy=["public"]), policy=["proprietary"])
    with pytest.raises(PolicyError, match="may not see this data"):
        evaluate(PREDICTIONS, data, log=tmp_path / "log.db")
    assert judge.asked == 0
    allowed = exam(judge.engine(data_classification_policy=["public"]), policy=["public"])
    assert evaluate(PREDICTIONS, allowed, log=tmp_path / "log.db").global_scores.score == 1.0


def test_answers_by_place_are_not_taken_from_the_log(tmp_path):
    engine = ScriptedEngine(answers=["Fine.", "Yes", "No"])
    for _ in range(2):
        results = evaluate(PREDICTIONS, exam(engine), log=tmp_path / "log.db")
        assert results.metadata["judges"]["scripted"]["from_log"] == 0
    assert not (tmp_path / "log.db").exists()


def test_an_outer_log_stays(tmp_path):
    judge = Judge()
    with judges_through(tmp_path / "outer.db") as outer:
        evaluate(PREDICTIONS, exam(judge.engine()))
        evaluate(PREDICTIONS, exam(judge.engine()))
    assert outer.summary()["scripted"]["asked"] == judge.asked == REQUESTS


def test_judges_are_asked_concurrently(tmp_path):
    with FaultServer(answer=lambda _: "Yes", latency_seconds=0.3) as server:
        engine = make_engine("openai", {"model": "m", "base_url": server.url, "max_concurrency": 16})
        evaluate([f"answer {number}" for number in range(len(PREDICTIONS))], exam(engine), log=tmp_path / "log.db")
        assert server.behaviour.most_in_flight > 1
        asked = server.statistics()["requests"]
        evaluate([f"answer {number}" for number in range(len(PREDICTIONS))], exam(engine), log=tmp_path / "log.db")
        assert server.statistics()["requests"] == asked


@pytest.fixture
def judged_exam(tmp_path, monkeypatch):
    """The name of a recipe in a catalog of its own, judged by a model behind a server."""
    with FaultServer(answer=lambda _: "Yes") as server:
        engine = make_engine("openai", {"model": "judge", "base_url": server.url})
        judge = LLMJudgeDirect(inference_engine=engine, criteria=POLITE, context_fields=["question"])
        task = Task(input_fields={"question": str}, reference_fields={}, prediction_type=str, metrics=[judge])
        rows = [{"question": "How late is it?"}, {"question": "Where is the station?"}]
        recipe = DatasetRecipe(
            card=TaskCard(loader=LoadFromDictionary(data={"test": rows}), task=task),
            template=InputOutputTemplate(input_format="{question}", output_format=""),
        )
        add_to_catalog(recipe, "recipes.polite", catalog_path=str(tmp_path / "catalog"), verbose=False)
        monkeypatch.setenv("PROCTOR_CATALOGS", str(tmp_path / "catalog"))
        monkeypatch.setenv("PROCTOR_ALLOW", f"net:127.0.0.1:{server.port}")  # a file says where the judge is
        yield server


def test_what_model_and_judges_lack_is_said_at_once_and_before_anybody_is_asked(tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "t.csv").write_text("question\nHow late is it?\n")

    def run(model, judge):
        with settings.context(judge=judge):
            exams = resolve_tasks([str(tmp_path / "t.csv")], ExamOptions(metric=("judge",)))
        return run_exams(exams, make_engine(model), log=tmp_path / "log.db")

    asked = []
    with pytest.raises(EngineError) as lacking:
        run(ScriptedEngine(function=lambda prompt: asked.append(prompt) or "At six."), "openai/gpt-4.1")
    assert (asked, [each.path for each in lacking.value.diagnostics]) == ([], ["judge gpt-4.1"])
    with pytest.raises(EngineError) as lacking:
        run("anthropic/claude-x", "anthropic/claude-y")
    assert [each.path for each in lacking.value.diagnostics] == ["", "judge claude-y"]
    assert all("needs an API key" in each.what for each in lacking.value.diagnostics)


def test_who_judges_nothing_now_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    (tmp_path / "t.csv").write_text("question\nHow late is it?\n")
    with settings.context(judge="anthropic/claude-y"):
        exams = resolve_tasks([str(tmp_path / "t.csv")], ExamOptions(metric=("judge",)))
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    done = ask_shard(exams, ScriptedEngine(answer="At six."), Shard(1, 2), log=tmp_path / "log.db")
    assert done.answered == 1


def proctor(*arguments):
    done = tests_commands.proctor(*arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    return done


def test_another_process_asks_nothing(judged_exam, tmp_path):
    (tmp_path / "said.jsonl").write_text('"At six."\n"Over there."\n')
    arguments = ("evaluate", "--dataset", "recipes.polite", "--predictions", tmp_path / "said.jsonl")
    first = proctor(*arguments, "--log", tmp_path / "log.db", "--json")
    assert json.loads(first.stdout)["politeness"] == 1.0
    asked = judged_exam.statistics()["requests"]
    assert asked == 8
    assert "judge judge: 8 requests asked, 0 answered by the log" in first.stderr
    assert proctor(*arguments, "--log", tmp_path / "log.db", "--json").stdout == first.stdout
    assert judged_exam.statistics()["requests"] == asked
    listed = proctor("log", "ls", "--log", tmp_path / "log.db").stdout
    assert "judge" in listed
    assert "8 answers" in listed


def test_a_run_files_what_judges_say(judged_exam, tmp_path):
    for turn, folder in enumerate(("one", "two")):
        proctor(
            *("run", "--model", "scripted", "--model-args", "answer=At six.", "--tasks", "recipes.polite"),
            *("--log", tmp_path / "log.db", "--output", tmp_path / folder),
        )
        results = json.loads((tmp_path / folder / "results.json").read_text())
        assert results["results"]["recipes.polite"]["politeness"] == 1.0
        counts = results["run"]["judges"]["judge"]
        assert (counts["asked"], counts["from_log"]) == ((8, 0), (0, 8))[turn]
    assert judged_exam.statistics()["requests"] == 8
    sample = json.loads((tmp_path / "two" / "samples.jsonl").read_text().splitlines()[0])
    assert sample["scores"]["politeness_selected_option"] == "Yes"
    assert sample["scores"]["politeness_prompts"]["assessment"][0]["role"] == "user"


def test_a_run_refuses_to_show_a_judge_what_it_may_not_see(tmp_path):
    judge = Judge()
    recipe = load_recipe("samples.sentiment")
    for metric in (
        LLMJudgeDirect(inference_engine=judge.engine(data_classification_policy=["secret"]), criteria=POLITE),
        LLMJudgeDirect(inference_engine=judge.engine(), criteria=POLITE, data_classification_policy=["secret"]),
    ):
        recipe.metrics = [metric.model_copy(update={"context_fields": []})]
        result = run_exams(exams_of("s", recipe), ScriptedEngine(answer="yes"), limit=2, log=tmp_path / "log.db")
        assert "may not see this data" in result.results["s"]["error"]
    assert judge.asked == 0


# -- budgets ----------------------------------------------------------------------------------------------------


def costly(_prompt):
    return Response(("Yes",), usage=Usage(100, 10))


def test_judges_spend_from_the_budget_of_the_run(tmp_path):
    allowance = Allowance(max_tokens=330)
    with judges_through(tmp_path / "log.db", budget=allowance):
        results = evaluate(PREDICTIONS, exam(ScriptedEngine(function=costly)))
    assert {failure["kind"] for failure in results.failures.values()} == {"budget"}
    assert allowance.tokens <= 440


def test_dollars_are_counted_at_the_price_of_the_judge(tmp_path):
    prices = PriceTable("2026-01-01", {"dear": Price(10_000.0, 0.0), "cheap": Price(1.0, 0.0)})
    allowance = Allowance(max_usd=100.0, price=prices.price_of("cheap"))
    with judges_through(tmp_path / "log.db", budget=allowance, prices=prices):
        evaluate(PREDICTIONS, exam(ScriptedEngine(function=costly, model="dear")))
    assert allowance.usd == pytest.approx(REQUESTS * 100 * 0.01)
    with judges_through(tmp_path / "two.db", budget=allowance, prices=prices), pytest.raises(UsageError, match="costs"):
        evaluate(PREDICTIONS, exam(ScriptedEngine(function=costly, model="nobody knows")))


def test_a_judge_whose_bill_is_not_known_as_a_whole_costs_at_least_what_is_known():
    counts = JudgeCounts()
    counts.count(Response(("Yes",), usage=Usage(1_000_000, 0)), Price(2, 4))
    assert "usd_is_at_least" not in counts.as_data()
    counts.count(Response(failure=Failure("timeout", "late"), usage=Usage(unknown_attempts=1)), Price(2, 4))
    found = counts.as_data()
    assert (found["usd_of_this_run"], found["usd_is_at_least"], found["failed"]) == (2.0, True, 1)


def test_a_run_by_answers_in_order_keeps_what_judges_say(tmp_path):
    judge = Judge()
    metric = LLMJudgeDirect(inference_engine=judge.engine(), criteria=POLITE, context_fields=[])
    recipe = load_recipe("samples.sentiment")
    recipe.metrics = [metric]
    for turn in range(2):
        result = run_exams(
            exams_of("s", recipe), ScriptedEngine(answers=["yes", "no"]), limit=2, log=tmp_path / "log.db"
        )
        assert result.run["judges"]["scripted"]["from_log"] == 8 * turn
    assert judge.asked == 8


def test_what_a_judge_thinks_is_not_its_verdict(tmp_path):
    plain = evaluate(PREDICTIONS, exam(Judge().engine()), log=tmp_path / "plain.db")
    thinking = ScriptedEngine(function=lambda prompt: "<think>No. Rather not.</think>Yes")
    found = evaluate(PREDICTIONS, exam(thinking), log=tmp_path / "log.db")
    assert [row["score"]["instance"]["score"] for row in found] == [row["score"]["instance"]["score"] for row in plain]
    lost = ScriptedEngine(function=lambda prompt: Response(("<think>Yes",), finish_reasons=("length",)))
    failures = evaluate(PREDICTIONS, exam(lost), log=tmp_path / "log.db").failures
    assert {failure["kind"] for failure in failures.values()} == {"thinking"}


REFUSED = Faults(lambda key, _: Fault("status", status=400) if int(key[:2], 16) % 2 else None)


@pytest.mark.parametrize("faults", [Faults.none(), REFUSED])
def test_processes_that_share_a_log_ask_each_verdict_once(log_place, faults):
    """Two evaluations begin together, and both get all verdicts; what one failed at the other does not try, either."""
    requests = [Generate(Prompt(f"{number}?"), Decoding()) for number in range(COUNT)]
    found: list[list[Response]] = [[], []]
    counts: list[JudgeCounts] = []
    begin = threading.Barrier(2)
    with FaultServer(answer=lambda *_: "Yes", latency_seconds=0.2, faults=faults) as server:

        def judge(number: int) -> None:
            engine = make_engine(
                "openai", {"model": "m", "base_url": server.url, "max_concurrency": 2, "max_retries": 0}
            )
            judging = Judging(log_place)
            begin.wait()
            found[number] = [response for _, response in judging.answer(engine, requests)]
            judging.close()
            counts.extend(judging.counts.values())

        threads = [threading.Thread(target=judge, args=(number,)) for number in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        extra = COUNT // 2 if faults is REFUSED else 0  # failed within the second in which both began: tried by both
        assert COUNT <= server.statistics()["requests"] <= COUNT + extra
    assert [each.texts for each in found[0]] == [each.texts for each in found[1]]
    assert min(each.asked for each in counts) > COUNT // 6
    assert [each.asked + each.from_log for each in counts] == [COUNT, COUNT]


COUNT = 24


def test_verdicts_that_could_not_be_read_are_asked_again_and_no_others(tmp_path):
    def answer(prompt):
        return "It depends" if ASKED["mumbles"] and "Go away" in prompt.text else "Yes"

    judge, log = Judge(answer=answer), tmp_path / "log.db"
    ASKED["mumbles"] = 1
    first = evaluate(PREDICTIONS, exam(judge.engine()), log=log)
    assert {each["kind"] for each in first.failures.values()} == {"unreadable"}
    ASKED["mumbles"] = 0
    again = evaluate(PREDICTIONS, exam(judge.engine()), log=log, anew="verdicts")
    assert again.failures == {}
    assert judge.asked == REQUESTS + REQUESTS // 2, "an assessment and a choice, in both orders, of one answer"
    evaluate(PREDICTIONS, exam(judge.engine()), log=log, anew="everything")
    assert judge.asked == 2 * REQUESTS + REQUESTS // 2
