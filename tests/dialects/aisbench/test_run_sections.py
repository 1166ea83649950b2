"""A whole config, as users write them, with one slip of the pen: an error, or named, when it is run."""

from __future__ import annotations

import re

import pytest

from proctor.cli.__main__ import main
from proctor.dialects.aisbench.run_sections import idle_sections, section_problems
from proctor.dialects.aisbench.values import ConfigDict

CONFIG = """
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import FixKRetriever, ZeroRetriever
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer, PPLInferencer
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator, RougeEvaluator
from ais_bench.benchmark.datasets import Aime2025Dataset, Aime2025JDGDataset
from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeCorrectEvaluator, get_a_or_b
from ais_bench.benchmark.utils.postprocess.text_postprocessors import first_option_postprocess, last_option_postprocess
from ais_bench.benchmark.partitioners import NaivePartitioner
from ais_bench.benchmark.runners import LocalRunner
from ais_bench.benchmark.tasks import OpenICLEvalTask, OpenICLApiInferTask
from ais_bench.benchmark.summarizers import DefaultSummarizer

datasets = [
    dict(
        abbr="one",
        type=Aime2025Dataset,
        path="rows.jsonl",
        n=2,
        k=1,
        reader_cfg=dict(input_columns=["question"], output_column="answer", test_range="[0:2]"),
        infer_cfg=dict(
            ice_template=dict(type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="Q: {question}"), dict(role="BOT", prompt="A: {answer}")])),
            prompt_template=dict(type=PromptTemplate, template=dict(begin=[dict(role="SYSTEM", fallback_role="HUMAN", prompt="Add."), "</E>"], round=[dict(role="HUMAN", prompt="Q: {question}"), dict(role="BOT", prompt="A: ")]), ice_token="</E>"),
            retriever=dict(type=FixKRetriever, fix_id_list=[0, 1]),
            inferencer=dict(type=GenInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type=AccEvaluator), pred_role="BOT", pred_postprocessor=dict(type=first_option_postprocess, options="ABCD")),
    ),
    dict(
        abbr="judged",
        type=Aime2025Dataset,
        path="rows.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="answer", test_range="[0:2]"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template="Q: {question}"),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer),
        ),
        judge_infer_cfg=dict(
            judge_reader_cfg=dict(input_columns=["question", "answer", "model_answer"], output_column="model_pred_uuid"),
            judge_model=dict(attr="service", type=VLLMCustomAPIChat, abbr="judge", path="", model="", stream=False, request_rate=0, retry=2, api_key="", host_ip="localhost", host_port=9, url="", max_out_len=33, batch_size=2, generation_kwargs=dict(temperature=0.01, seed=3)),
            judge_dataset_type=Aime2025JDGDataset,
            prompt_template=dict(type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="{question} {answer} {model_answer}")])),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type=LLMJudgeCorrectEvaluator), pred_postprocessor=dict(type=get_a_or_b)),
    ),
]
models = [
    dict(attr="service", type=VLLMCustomAPIChat, abbr="chat", path="", model="m", stream=False, request_rate=0, use_timestamp=False, retry=2, host_ip="localhost", host_port=9, url="", max_out_len=64, batch_size=4, trust_remote_code=False, traffic_cfg=dict(burstiness=1.0, ramp_up_strategy="linear", ramp_up_start_rps=1, ramp_up_end_rps=2), generation_kwargs=dict(temperature=0.01, top_p=0.9, top_k=5, seed=3, repetition_penalty=1.1, ignore_eos=False, stop=["X"]),
         meta_template=dict(round=[dict(role="HUMAN", api_role="HUMAN"), dict(role="BOT", api_role="BOT", generate=True)], reserved_roles=[dict(role="SYSTEM", api_role="SYSTEM")]),
         pred_postprocessor=dict(type=last_option_postprocess, options="ABCD")),
]
summarizer = dict(
    attr="accuracy",
    type=DefaultSummarizer,
    dataset_abbrs=["all", ["one", "accuracy"]],
    summary_groups=[dict(name="all", subsets=["one", "judged"], weights=dict(one=1, judged=2))],
)
infer = dict(partitioner=dict(type=NaivePartitioner), runner=dict(type=LocalRunner, max_num_workers=2, task=dict(type=OpenICLApiInferTask)))
eval = dict(partitioner=dict(type=NaivePartitioner), runner=dict(type=LocalRunner, max_num_workers=2, task=dict(type=OpenICLEvalTask, dump_details=True)))
work_dir = "out"
"""


def misspelt(word: str) -> str:
    """Return a word without its middle letter, or with one more where it is short."""
    return word[: len(word) // 2] + word[len(word) // 2 + 1 :] if len(word) > 3 else f"{word}x"


WRITTEN = CONFIG[CONFIG.index("datasets = [") :]
KEYS = sorted({match[1] for match in re.finditer(r"(?<![\w\"])([a-z_]+)(?=\s*=[^=])", WRITTEN)})
TYPES = sorted({match[1] for match in re.finditer(r"type=([A-Za-z_0-9]+)", WRITTEN)})


@pytest.fixture
def rehearsed(tmp_path, monkeypatch, capsys):
    """Return a function from the text of a config to the exit code of its rehearsal and what is said."""
    (tmp_path / "rows.jsonl").write_text('{"question": "1+1", "answer": "2"}\n{"question": "1+2", "answer": "3"}\n')
    monkeypatch.chdir(tmp_path)

    def rehearse(text):
        (tmp_path / "config.py").write_text(text)
        code = main(["run", "config.py", "--dry-run", "--output", "out"])
        said = capsys.readouterr()
        return code, said.out + said.err

    return rehearse


def test_the_config_itself_is_fine(rehearsed):
    code, said = rehearsed(CONFIG)
    assert code == 0, said
    assert "note: the config says what has no effect here: work_dir: --output says where results go" in said
    assert "infer.runner(type, max_num_workers, task, task.type): a run is one process" in said


@pytest.mark.parametrize("key", KEYS)
def test_every_misspelt_key_is_an_error_or_named(key, rehearsed):
    found = list(re.finditer(rf"(?<![\w\"]){key}(?=\s*=[^=])", WRITTEN))
    for match in (found[0], found[-1]):
        wrong = misspelt(key)
        code, said = rehearsed(CONFIG.replace(WRITTEN, WRITTEN[: match.start()] + wrong + WRITTEN[match.end() :]))
        assert code != 0 or wrong in said, WRITTEN[match.start() - 40 : match.end() + 20]
        assert "fault of Proctor" not in said


@pytest.mark.parametrize("kind", TYPES)
def test_every_misspelt_class_is_an_error(kind, rehearsed):
    code, said = rehearsed(CONFIG.replace(WRITTEN, WRITTEN.replace(f"type={kind},", f"type={misspelt(kind)},", 1)))
    if f"type={kind}," in WRITTEN:
        assert code != 0, kind
        assert "fault of Proctor" not in said


def test_a_misspelt_column_of_a_judge(rehearsed):
    code, said = rehearsed(CONFIG.replace('"answer", "model_answer"]', '"answer", "model_anwser"]'))
    assert code != 0
    assert "the judge's rows have no column 'model_anwser'" in said
    assert "did you mean 'model_answer'?" in said


def problems(**values):
    return [(each.what, each.hint) for each in section_problems(values)]


def section(**values):
    return ConfigDict({key: ConfigDict(each) for key, each in values.items()})


def test_which_model_sits_which_dataset_cannot_be_chosen():
    found = problems(model_dataset_combinations=[{"models": [], "datasets": []}])
    assert found[0][0] == "'model_dataset_combinations' cannot be honoured"
    kept = [ConfigDict({"abbr": "m"})]
    assert problems(judge_models=kept, eval=section(partitioner={"type": "P", "judge_models": kept})) == []
    ((what, hint),) = problems(eval=section(partitioner={"type": "P", "judge_models": kept}))
    assert what == "'judge_models' of a partitioner cannot be honoured"
    assert hint == "judge_models = […] at the top of the file is what is read"
    ((what, hint),) = problems(eval=section(partitioner={"infer_order": "double"}))
    assert what == "'infer_order' of a partitioner cannot be honoured"


@pytest.mark.parametrize(
    "values, hint",
    [
        ({"ifner": section(runner={})}, "did you mean 'infer'?"),
        ({"infer": section(), "evla": section(partitioner={})}, "did you mean 'eval'?"),
        ({"wrok_dir": "outputs"}, "did you mean 'work_dir'?"),
        ({"infer": section(runer={})}, "did you mean 'runner'?"),
    ],
)
def test_misspelt_sections(values, hint):
    assert [each for _, each in problems(**values)] == [hint]


def test_sections_that_are_nothing():
    assert problems(infer=5)[0][0] == "'infer' is not a dictionary"
    assert problems(infer=ConfigDict({"runner": 5}))[0][0] == "'runner' of 'infer' is not a dictionary"
    assert problems(words="outputs", other=section(data={})) == []
    assert idle_sections({"infer": 5, "work_dir": None}) == {}


def test_a_task_that_asks_in_a_way_of_its_own():
    for kind, count in (("OpenICLInferTask", 0), ("SubjectiveEvalTask", 0), ("OpenICLAttackTask", 1), ("MyTask", 1)):
        found = problems(infer=section(runner={"type": "LocalRunner", "task": {"type": kind}}))
        assert [what for what, _ in found] == [f"the task '{kind}' cannot be honoured"] * count


def test_a_section_by_a_longer_name():
    assert problems(inference=section(runner={})) == [("nothing reads 'inference'", "did you mean 'infer'?")]


def test_a_dataset_of_a_group_that_has_no_weight_is_named():
    group = {"name": "g", "subsets": ["a", "b"], "weights": {"a": 1}}
    values = {"datasets": [ConfigDict({"abbr": each}) for each in "ab"], "summarizer": {"summary_groups": [group]}}
    assert "'b' has no weight, and counts nothing" in idle_sections(values).values()
    group["weights"] = {"a": 1, "b": 0}
    assert not [why for why in idle_sections(values).values() if "weight" in why]


@pytest.mark.parametrize(
    "first, second, named",
    [
        ({"subsets": ["a"]}, {"subsets": ["b"]}, True),
        ({"subsets": ["a"]}, {"subsets": ["a"]}, False),  # written twice
        ({"subsets": ["a", "b"]}, {"subsets": ["a", "b"], "weights": {"a": 3, "b": 1}}, False),  # two scores in a row
        ({"subsets": ["a"], "metric": "x"}, {"subsets": ["b"], "metric": "x"}, True),
    ],
)
def test_groups_of_one_name_share_a_row_and_one_that_is_covered_is_named(first, second, named):
    from proctor.dialects.aisbench.resolve import groups_of

    groups = [{"name": "g", **first}, {"name": "g", **second}]
    summarizer = ConfigDict({"summary_groups": groups})
    values = {"datasets": [ConfigDict({"abbr": each}) for each in "ab"], "summarizer": summarizer}
    said = {path: why for path, why in idle_sections(values).items() if "later group" in why}
    assert list(said) == ["summarizer.summary_groups[0]"] * named
    (group,) = groups_of(values)
    assert list(group.members) == second["subsets"]
