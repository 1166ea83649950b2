"""A sampler of a task's own, in the form of lm-eval before 0.4.9: it draws by the document, and lays demos out."""

from __future__ import annotations

import json

import pytest
import yaml

from proctor.dialects.lm_eval.resolve import resolve
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

CODE = """
from lm_eval.api.samplers import ContextSampler
from lm_eval.utils import apply_template


class SameTopic(ContextSampler):
    def sample(self, n, doc):
        return self.rnd.sample([each for each in self.docs if each["topic"] == doc["topic"]], n)

    def get_context(self, doc, num_fewshot):
        short = self.config.fewshot_config.get("short", self.config.doc_to_text)
        self.config.doc_to_text = self.config.fewshot_config.get("query", short)
        text = ""
        for place, each in enumerate(self.sample(num_fewshot, doc)):
            text += self.doc_to_text(each) if place == 0 else apply_template(short, each)
            text += self.target_delimiter + self.doc_to_target(each) + self.fewshot_delimiter
        self.task.config.doc_to_text = short
        return text


class Turns(SameTopic):
    def get_chat_context(self, doc, num_fewshot, fewshot_as_multiturn=False):
        found = self.sample(num_fewshot, doc)
        pairs = [(("user", f"T {each['q']}"), ("assistant", each["a"])) for each in found]
        return [{"role": role, "content": text} for pair in pairs for role, text in pair]


class OwnStart(SameTopic):
    def __init__(self, docs, task, fewshot_indices=None, rnd=None):
        self.rnd, self.start = rnd, task.config.task

    def get_context(self, doc, num_fewshot, gen_prefix=None):
        return f"{self.start} {gen_prefix}: {super().get_context(doc, num_fewshot)}"


class Today(ContextSampler):
    def sample(self, n, eval_doc=None, df=None):
        return self.fewshot_docs()[:n]

    def get_context(self, doc, num_fewshot):
        raise AssertionError("only older releases call it")
"""
ROWS = [{"q": f"q{n}", "a": f"a{n}", "topic": n % 2} for n in range(6)]
TASK = {
    "task": "t",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "rows.jsonl", "train": "shown.jsonl"}},
    "training_split": "train",
    "test_split": "test",
    "output_type": "generate_until",
    "doc_to_text": "Say it. {{q}}:",
    "doc_to_target": "{{a}}",
    "target_delimiter": "=",
    "num_fewshot": 2,
    "metric_list": [{"metric": "exact_match"}],
}


@pytest.fixture
def prompts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = [{**row, "q": f"s{n}"} for n, row in enumerate(ROWS)]
    for name, rows in {"rows": ROWS, "shown": shown}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "code.py").write_text(CODE)

    def made(sampler, fewshot=None, options=None, **values):
        text = yaml.safe_dump({**TASK, **values, "fewshot_config": {"sampler": "HERE", **(fewshot or {})}})
        (tmp_path / "t.yaml").write_text(text.replace("HERE", f"!function code.{sampler}"))
        asked = []
        with settings.context(trust_code=True):
            exams = resolve([str(tmp_path / "t.yaml")], options=options or ExamOptions())
            engine = ScriptedEngine(function=lambda prompt: asked.append(prompt.payload) or "a")
            run_exams(exams, engine, log=tmp_path / f"{len(list(tmp_path.iterdir()))}.db")
        return asked

    return made


def topics(prompt):
    return {int(word[1]) % 2 for word in prompt.replace(":", " ").split() if word[0] in "sq" and word[1:].isdigit()}


def test_demos_are_laid_out_by_the_class_and_keys_that_it_changes_count(prompts):
    found = sorted(prompts("SameTopic", {"short": "{{q}}?", "query": "Now: {{q}}!"}))
    assert len(found) == len(ROWS)
    for prompt in found:
        first, second, question = prompt.split("\n\n")
        assert first.startswith("Now: s")
        assert "!=a" in first
        assert second.startswith("s")
        assert "?=a" in second
        assert question.endswith("?")
        assert question.startswith("q")
        assert len(topics(prompt.replace("?", " ").replace("!", " "))) == 1


def test_the_draw_is_that_of_the_seed(prompts):
    assert prompts("SameTopic") == prompts("SameTopic") != prompts("SameTopic", options=ExamOptions(seed=3))


def test_no_demos_call_nothing(prompts):
    assert sorted(prompts("SameTopic", {"query": "x"}, num_fewshot=0)) == [f"Say it. q{n}:" for n in range(6)]


def test_a_class_with_a_start_of_its_own_is_given_the_task(prompts):
    for found in prompts("OwnStart", gen_prefix="It is"):
        assert found.startswith("t It is: Say it. s")
        assert found.endswith(":=It is")


@pytest.mark.parametrize("as_turns", [True, False])
def test_a_chat_has_the_messages_of_the_class(prompts, as_turns):
    chat = ExamOptions(apply_chat_template=True, demos_as_turns=as_turns, system_prompt="Be brief.")
    (found, *_) = prompts("Turns", options=chat)
    assert [message["role"] for message in found] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert found[1]["content"].startswith("T s")
    if not as_turns:
        (found, *_) = prompts("SameTopic", options=chat)
        assert [message["role"] for message in found] == ["system", "user"]
        assert found[1]["content"].count("Say it.") == 3
    else:
        with pytest.raises(ProctorError, match="SameTopic lays its demos out as one text"):
            prompts("SameTopic", options=chat)


def test_a_sampler_of_today_is_asked_as_ever_and_reads_no_keys(prompts):
    assert all("s0" in each and "s1" in each for each in prompts("Today"))
    with pytest.raises(ProctorError, match="(?s)no key 'query' of fewshot_config.*Today"):
        prompts("Today", {"query": "x"})
