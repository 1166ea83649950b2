"""LlamaIndex' evaluators as metrics, with the package or with what stands for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from proctor.artifacts import fetch_artifact
from proctor.engines.engine import Engine
from proctor.errors import MissingExtraError, PolicyError, ValidationError
from proctor.ir import Generate, Response
from proctor.running.judging import judges_through
from proctor.scoring.columns import Columns
from proctor.scoring.judges import llama_index
from proctor.scoring.judges.llama_index import LlamaIndexCorrectness, LlamaIndexFaithfulness, LlamaIndexLLMMetric
from proctor.settings import settings

PUBLIC = {"metadata": {"data_classification_policy": ["public"]}}


class Role(StrEnum):
    """Who says something."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Model:
    """Stands for ``CustomLLM``."""

    async def said(self, question: str) -> str:
        """Ask what an evaluator asks."""
        messages = [
            SimpleNamespace(role=Role.SYSTEM, content="judge"),
            SimpleNamespace(role=Role.USER, content=question),
        ]
        return str((await self.achat(messages)).message.content)  # type: ignore[attr-defined]


class Echo(Model):
    """Stands for ``MockLLM``."""

    def __init__(self, system_prompt: str) -> None:
        self.system_prompt = system_prompt

    async def said(self, question: str) -> str:
        return f"{self.system_prompt}\n\n{question}"


class Correctness:
    """Stands for ``CorrectnessEvaluator``: one question."""

    def __init__(self, llm: Model, parser_function: Callable[[str], tuple[float, str]]) -> None:
        self.llm, self.parser = llm, parser_function

    async def aevaluate(self, query: str, response: str, reference: str) -> Any:
        return SimpleNamespace(score=self.parser(await self.llm.said(f"{query}|{response}|{reference}"))[0])


class Faithfulness:
    """Stands for ``FaithfulnessEvaluator``: a question for each context, with the answer so far."""

    def __init__(self, llm: Model) -> None:
        self.llm = llm

    async def aevaluate(self, response: str, contexts: list[str]) -> Any:
        said = ""
        for context in contexts:
            said = await self.llm.said(f"{response}|{context}|{said}: YES or NO?")
        return SimpleNamespace(score=float("yes" in said.lower()), feedback=said)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    names = {
        "llama_index": {},
        "llama_index.core": {},
        "llama_index.core.llms": {
            "ChatMessage": SimpleNamespace,
            "ChatResponse": SimpleNamespace,
            "CustomLLM": Model,
            "LLMMetadata": SimpleNamespace,
            "MessageRole": Role,
            "MockLLM": Echo,
        },
        "llama_index.core.evaluation": {"CorrectnessEvaluator": Correctness, "FaithfulnessEvaluator": Faithfulness},
    }
    for name, members in names.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None, is_package=True)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    llama_index._model_class.cache_clear()
    yield
    llama_index._model_class.cache_clear()


class Judge(Engine):
    """Answers by what stands last in its questions, and keeps them."""

    answers: dict[str, str]

    def prepare(self) -> None:
        super().prepare()
        self.asked: list[list[str]] = []

    @property
    def identity(self) -> str:
        return "judge"

    def generate(self, requests: Any) -> Iterator[tuple[int, Response]]:
        given: list[Generate] = list(requests)
        self.asked.append([str(each.prompt.messages[-1]["content"]) for each in given])
        for number, said in enumerate(self.asked[-1]):
            answer = next(answer for part, answer in self.answers.items() if part in said)
            yield number, Response((answer,))


def columns(*rows: tuple[str, list[str], dict[str, Any]]) -> Columns:
    return Columns([row[0] for row in rows], [row[1] for row in rows], [{**PUBLIC, **row[2]} for row in rows])


@pytest.mark.usefixtures("package")
def test_the_best_of_the_references_counts_and_all_are_asked_at_once() -> None:
    judge = Judge(answers={"|bad": "2\nno", "|good": "I give 4.5 of 5", "|x": "no idea", "|y": "Score: 70"})
    metric = LlamaIndexCorrectness(inference_engine=judge, model_name="j-1.5")
    rows = [(name, references, {"question": "q"}) for name, references in
            (("a", ["bad", "good"]), ("b", ["bad"]), ("c", ["x"]), ("d", []), ("e", ["y"]))]  # fmt: skip
    found = metric.measure(columns(*rows, ("f", ["bad"], {})))
    assert judge.asked == [["q|a|bad", "q|a|good", "q|b|bad", "q|c|x", "q|e|y"]]
    name = "correctness_llama_index_by_j_1_5_judge"
    assert list(found.instances[name])[:2] == [0.9, 0.4]
    assert found.overall == {"num_of_instances": 2, name: 0.65, "score": 0.65, "score_name": name}
    assert {place: each.kind for place, each in found.failures.items()} == {
        2: "unreadable", 3: "no_reference", 4: "unreadable", 5: "metric",
    }  # fmt: skip
    assert found.instances[f"{name}_raw_output"][2] == "no idea"
    assert "'question'" in found.failures[5].message
    assert "more than 5 points" in found.failures[4].message


@pytest.mark.usefixtures("package")
def test_contexts_that_need_several_questions_are_asked_in_rounds() -> None:
    judge = Judge(answers={"|first|": "no", "|second|no": "YES, it is", "|other|": "Hm", "|third|": "NO"})
    metric = LlamaIndexFaithfulness(inference_engine=judge)
    told = [{"contexts": ["first", "second"]}, {"contexts": ["third"]}, {"contexts": ["other"]}, {"contexts": "third"}]
    found = metric.measure(columns(*((str(number), ["-"], each) for number, each in enumerate(told))))
    assert [len(each) for each in judge.asked] == [3, 1]
    assert list(found.instances["score"])[:2] == [1.0, 0.0]
    assert found.failures[2].kind == "unreadable"
    assert "'third'" in found.failures[3].message


@pytest.mark.usefixtures("package")
def test_a_judge_is_asked_through_the_log(tmp_path: Path) -> None:
    judge = Judge(answers={"|": "5"})
    data = columns(("a", ["b"], {"question": "q"}))
    for _ in range(2):
        with judges_through(tmp_path / "log.db"):
            assert LlamaIndexCorrectness(inference_engine=judge).measure(data).overall["score"] == 1.0
    assert judge.asked == [["q|a|b"]]


@pytest.mark.usefixtures("package")
def test_the_mock_asks_nobody_and_gives_the_best_score() -> None:
    data = columns(("a", ["b"], {"question": "q", "contexts": ["c"]}))
    for name in ("correctness", "faithfulness"):
        metric = fetch_artifact(f"metrics.rag.{name}.llama_index_by_mock")
        assert isinstance(metric, LlamaIndexLLMMetric)
        assert metric.measure(data).overall["score"] == 1.0
    with settings.context(mock_inference_mode=True):
        asking = fetch_artifact("metrics.rag.correctness.llama_index_by_gpt_3_5_turbo")
        assert isinstance(asking, LlamaIndexCorrectness)
        found = asking.measure(data)
    assert found.overall["score_name"] == "correctness_llama_index_by_gpt_3_5_turbo_judge"
    assert found.overall["score"] == 1.0


@pytest.mark.usefixtures("package")
def test_data_that_is_not_public_is_not_shown() -> None:
    data = Columns(["a"], [["b"]], [{"question": "q", "metadata": {"data_classification_policy": ["pii"]}}])
    with pytest.raises(PolicyError, match="pii"):
        LlamaIndexCorrectness(model_name="mock").measure(data)


def test_a_judge_without_a_model_is_refused() -> None:
    with pytest.raises(ValidationError, match="has no judge"):
        LlamaIndexFaithfulness()


@pytest.mark.skipif(find_spec("llama_index") is not None, reason="the package is here")
def test_without_the_package_the_error_says_what_to_install() -> None:
    metric = LlamaIndexCorrectness(model_name="mock")
    assert [each.hint for each in metric.check()] == ["pip install 'proctor[llama-index]'"]
    with pytest.raises(MissingExtraError, match="llama-index-core"):
        metric.measure(columns(("a", ["b"], {"question": "q"})))


def test_the_package_s_own_evaluators_are_what_is_asked() -> None:
    pytest.importorskip("llama_index.core")
    judge = Judge(answers={"YES or NO": "yes", "Reference Answer": "4.0\nfine"})
    data = columns(("a", ["b"], {"question": "q", "contexts": ["some text."]}))
    assert LlamaIndexCorrectness(inference_engine=judge).measure(data).overall["score"] == 0.8
    assert LlamaIndexFaithfulness(inference_engine=judge).measure(data).overall["score"] == 1.0
