"""Which rows of a dataset are asked about, which demos they are shown, and what becomes of rows that cannot be used."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from proctor.demos import retrievers_dense, retrievers_mdl
from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.exam import dataset_exam
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.recipes.honours import Honoured, Refused
from proctor.recipes.options import OPTIONS, ExamOptions
from proctor.running.run import run_exams

TEXT = "{question} {answer}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("test", "train"):
        rows = [{"question": f"{name}{i}", "answer": "AB"[i % 2]} for i in range(8)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config(retriever=None, top="opencompass.datasets", template=TEXT, inferencer="GenInferencer", **more):
    infer = {"inferencer": {"type": inferencer}, "retriever": retriever or {"type": "ZeroRetriever"}}
    if retriever:
        infer["ice_template"] = {"type": "PromptTemplate", "template": template}
    asking = {key: f"</E>{text}" for key, text in template.items()} if isinstance(template, dict) else f"</E>{template}"
    infer["prompt_template"] = {"type": "PromptTemplate", "template": asking, "ice_token": "</E>"}
    reader = {"input_columns": ["question"], "output_column": "answer", **more.pop("reader", {})}
    return dataset_config(
        ConfigDict(
            {
                "abbr": "set",
                "type": Reference(f"{top}.HFDataset"),
                "path": "json",
                "data_files": {"test": "test.jsonl", "train": "train.jsonl"},
                "reader_cfg": reader,
                "infer_cfg": infer,
                "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
                **more,
            }
        )
    )


def prompts(exam):
    return [question.requests[0].prompt.text for question in exam.questions()]


RANDOM = {"type": "RandomRetriever", "ice_num": 2, "seed": 7}


@pytest.mark.usefixtures("folder")
class TestDraws:
    def test_over_all_rows_before_the_limit(self):
        whole = prompts(dataset_exam(config(RANDOM)))
        assert prompts(dataset_exam(config(RANDOM), ExamOptions(limit=3))) == whole[:3]
        assert prompts(dataset_exam(config(RANDOM), ExamOptions(samples={"set": [6, 1]}))) == [whole[1], whole[6]]
        cut = dataset_exam(config(RANDOM, reader={"test_range": "[4:]"}))
        assert prompts(cut) != whole[4:], "a range comes before the draw"

    def test_copies_draw_for_themselves(self):
        found = prompts(dataset_exam(config(RANDOM, n=3)))
        assert len(found) == 24
        assert found[0] != found[8], "OpenCompass repeats the whole"
        adjacent = prompts(dataset_exam(config(RANDOM, top="ais_bench.benchmark.datasets", n=3)))
        assert adjacent[0].splitlines()[-1] == adjacent[1].splitlines()[-1]
        assert adjacent[0] != adjacent[1]

    def test_limits_count_instances_and_keep_their_copies(self):
        exam = dataset_exam(config(n=3), ExamOptions(limit=2))
        assert [each.instance["idx"] for each in exam.questions()] == [0, 1, 0, 1, 0, 1]
        assert [each.requests[0].decoding.seed for each in exam.questions()] == [None, None, 1, 1, 2, 2]
        exam = dataset_exam(config(n=3, top="ais_bench.benchmark.datasets"), ExamOptions(samples={"set": [5]}))
        assert [each.requests[0].decoding.seed for each in exam.questions()] == [None, 1, 2]

    @pytest.mark.parametrize("top", ["opencompass.datasets", "ais_bench.benchmark.datasets"])
    @pytest.mark.parametrize(
        "retriever", [RANDOM, {"type": "FixKRetriever", "fix_id_list": [0, 3]}, {"type": "ZeroRetriever"}], ids=str
    )
    @pytest.mark.parametrize("by", ["run", "model"])
    def test_repeats_of_a_run_or_a_model_ask_the_same_again(self, by, retriever, top):
        """The rows that a range leaves, each so often, with the demos that it has without repeats."""
        own = config(retriever, top, reader={"test_range": "[1:4]"})
        changed = {"options": ExamOptions(repeats=3)} if by == "run" else {"changed": DatasetOptions(repeats=3)}
        once, asked = prompts(dataset_exam(own)), dataset_exam(own, **changed)
        assert len(once) == 3
        assert prompts(asked) == [text for text in once for _ in range(3)]
        seeds = [each.requests[0].decoding.seed for each in asked.questions()]
        assert seeds == [None, 1, 2] * 3

    def test_n_of_a_config_repeats_the_rows_of_demos_too(self):
        """Both systems do; and OpenCompass takes ranges of what it has repeated."""
        few = {"type": "FixKRetriever", "fix_id_list": [0, 1]}
        whole = prompts(dataset_exam(config(few, reader={"test_range": "[6:10]"}, n=2)))
        assert [text.splitlines()[-1] for text in whole] == [f"test{i} " for i in (6, 7, 0, 1)]
        each = prompts(dataset_exam(config(few, "ais_bench.benchmark.datasets", reader={"test_range": "[1:3]"}, n=2)))
        assert [text.splitlines()[-1] for text in each] == [f"test{i} " for i in (1, 1, 2, 2)]
        assert each[0].splitlines()[:2] == ["train0 A", "train0 A"]

    def test_a_seed_draws_anew_and_none_is_the_configs_own(self):
        own = prompts(dataset_exam(config(RANDOM)))
        assert prompts(dataset_exam(config(RANDOM), ExamOptions(seed=7))) == own
        assert prompts(dataset_exam(config(RANDOM), ExamOptions(seed=8))) != own
        assert dataset_exam(config(RANDOM)).seed == 7, "and run.yaml says which"

    @pytest.mark.parametrize(
        "retriever",
        [
            {"type": "MDLRetriever", "ice_num": 2, "candidate_num": 6, "select_time": 4},
            {"type": "VotekRetriever", "ice_num": 7, "votek_k": 1},
        ],
        ids=["mdl", "votek"],
    )
    def test_retrievers_that_draw_honour_a_seed(self, retriever, monkeypatch):
        monkeypatch.setattr(retrievers_dense.TopkRetriever, "embed", _embedded)
        monkeypatch.setattr(retrievers_mdl.MDLRetriever, "losses", _losses)
        values = config(retriever, template={"A": "{question} A", "B": "{question} B"}, inferencer="PPLInferencer")
        texts = {
            seed: tuple(each.requests[0].text for each in dataset_exam(values, ExamOptions(seed=seed)).questions())
            for seed in (None, 1, 2, 3)
        }
        assert len(set(texts.values())) > 1
        assert dataset_exam(values).honours["seed"].how.startswith(retriever["type"])

    def test_a_draw_is_made_once(self, monkeypatch):
        calls = []
        exam = dataset_exam(config(RANDOM))
        original = type(exam.own.builder).retrieve
        monkeypatch.setattr(type(exam.own.builder), "retrieve", lambda *a: calls.append(1) or original(*a))
        assert prompts(exam) == prompts(exam)
        assert calls == [1]


def _embedded(self, texts):
    del self
    return np.asarray([list(hashlib.sha256(text.encode()).digest()[:3]) for text in texts], dtype=np.float32) - 128


def _losses(self, texts, context):
    del self
    return [float(sum(map(ord, context + text)) % 17) for text in texts]


class TestRows:
    def test_a_row_that_cannot_be_used_is_a_failed_instance(self, folder):
        (folder / "test.jsonl").write_text(
            '{"question": "a", "answer": "A"}\n{"question": "b"\n{"question": "c", "answer": "A"}\n'
        )
        values = config()
        values.values.update(type=Reference("opencompass.datasets.JsonlDataset"), path="test.jsonl")
        del values.values["data_files"]
        exam = dataset_exam(values)
        assert [each.failure is not None for each in exam.questions()] == [False, True, False]
        result = run_exams([exam], ScriptedEngine(answer="A"), log=folder / "log.db")
        assert (result.results["set"]["n"], result.results["set"]["failures"]) == (3, 1)
        assert result.results["set"]["accuracy"] == 100
        message = result.grades["set"].failures[1].message
        assert message.startswith("set[1]: the file is not valid JSON")
        assert "test.jsonl:2" in message

    def test_an_exam_without_a_usable_row_is_refused(self, folder):
        (folder / "test.jsonl").write_text("{\n" * 12)
        values = config()
        values.values.update(type=Reference("opencompass.datasets.JsonlDataset"), path="test.jsonl")
        with pytest.raises(ProctorError, match="not valid JSON"):
            dataset_exam(values).questions()

    @pytest.mark.usefixtures("folder")
    def test_steps_show_what_is_read_and_what_is_chosen(self):
        stages = list(dataset_exam(config(n=2, reader={"test_range": "[:3]"})).stages())
        assert [title for title, _ in stages] == [
            "HFDataset reads the rows",
            "reader_cfg chooses splits and ranges; n asks each 2 times",
        ]
        assert len(list(stages[0][1]["test"])) == 8
        assert [len(list(stages[1][1][name])) for name in ("asked about", "demos come from")] == [3, 16]


class TestHonours:
    def test_every_option_has_an_entry(self):
        assert set(dataset_exam(config()).honours) == set(OPTIONS)

    @pytest.mark.parametrize(
        "options, words",
        [
            ({"template": "nonsense"}, "--template"),
            ({"num_demos": 2}, "no ice_template"),
            ({"chat_override": True}, "chat_override"),
            ({"metadata": {"a": 1}}, "metadata"),
            ({"keys": {"a": 1}}, "--keys"),
        ],
    )
    def test_what_cannot_be_honoured_is_refused_by_name(self, options, words):
        (problem,) = dataset_exam(config(), ExamOptions(**options)).refused()
        assert words in f"{problem.what} {problem.why}"
        assert problem.hint

    @pytest.mark.parametrize("option", ["seed", "demos_as_turns", "meta_template"])
    def test_what_has_no_effect_says_why(self, option):
        entry = dataset_exam(config()).honours[option]
        assert isinstance(entry, Honoured)
        assert entry.how.startswith("no effect here: ")

    def test_losses_of_prompts_are_not_of_messages_and_never_text(self):
        values = config(template={"A": "a", "B": "b"}, inferencer="PPLInferencer")
        honours = dataset_exam(values).honours
        assert isinstance(honours["apply_chat_template"], Refused)
        assert honours["decoding"].how.startswith("no effect here: ")
        assert isinstance(dataset_exam(values, ExamOptions(choices_as_text=True)).honours["choices_as_text"], Refused)

    def test_demos_as_turns_is_what_the_template_does_or_refused(self):
        def entry(template, wanted):
            options = ExamOptions(apply_chat_template=True, demos_as_turns=wanted)
            return dataset_exam(config(RANDOM, template=TEXT) if template == "text" else DIALOGUE, options).honours[
                "demos_as_turns"
            ]

        assert isinstance(entry("text", True), Refused)
        assert isinstance(entry("text", False), Honoured)
        assert isinstance(entry("dialogue", True), Honoured)
        assert isinstance(entry("dialogue", False), Refused)

    @pytest.mark.usefixtures("folder")
    def test_more_demos_of_every_retriever(self):
        window = config({"type": "SlidingWindowRetriever", "k": 1})
        assert prompts(dataset_exam(window, ExamOptions(num_demos=3)))[0].count("train") == 3


ROUND = {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]}
DIALOGUE = config(RANDOM)
DIALOGUE.values["infer_cfg"]["ice_template"]["template"] = ROUND
DIALOGUE.values["infer_cfg"]["prompt_template"]["template"] = {"begin": ["</E>"], **ROUND}


@pytest.mark.parametrize("column, asked", [("a", ["a"]), (["x", "y"], ["x", "y"])])
def test_a_chat_without_a_prompt_template_asks_the_column_and_no_example(folder, column, asked):
    (folder / "test.jsonl").write_text(json.dumps({"question": column}) + "\n")
    made = config(inferencer="ChatInferencer", reader={"output_column": None})
    made.values["infer_cfg"]["ice_template"] = made.values["infer_cfg"].pop("prompt_template")
    (question,) = dataset_exam(made, ExamOptions()).questions()
    said = question.requests[-1].prompt.messages
    assert [each["content"] for each in said if each["role"] == "user"] == asked
