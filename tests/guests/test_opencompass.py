"""Classes beside configs: what code that derives from OpenCompass' and AISBench's classes gets."""

import json

import pytest

from proctor.errors import NotAllowedError, TemplateError, UsageError

pytestmark = pytest.mark.usefixtures("installed")
META = {"round": [{"role": "HUMAN", "begin": "H:", "end": "\n"}, {"role": "BOT", "begin": "B:", "generate": True}]}
ASKED = {"round": [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]}


def test_a_model_of_ones_own_generates_from_dialogues():
    from opencompass.models.base import BaseModel
    from opencompass.openicl import PromptTemplate

    class Mine(BaseModel):
        def generate(self, inputs, max_out_len):
            return [f"{each!r} {max_out_len}" for each in inputs]

        def get_token_len(self, prompt):
            return len(prompt)

    model = Mine("here", meta_template=META)
    dialogue = PromptTemplate(ASKED).generate_item({"q": "1", "a": "2"}, "a")
    assert model.generate_from_template([dialogue, "text"], 3) == [r"'H:1\nB:' 3", "'text' 3"]
    assert model.get_token_len_from_template(dialogue, "gen") == len("H:1\nB:")
    assert model.get_token_len_from_template([dialogue, "x"]) == [6, 1]
    with pytest.raises(UsageError, match="Mine has no 'get_ppl'"):
        model.get_ppl_from_template("x")


def test_a_model_behind_a_service_gets_messages_and_counts_words():
    from opencompass.models.base_api import BaseAPIModel
    from opencompass.openicl import PromptTemplate

    class Mine(BaseAPIModel):
        def generate(self, inputs, max_out_len):
            return [each[0]["role"] for each in inputs]

    model = Mine("name", meta_template={"round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT"}]}, retry=5)
    dialogue = PromptTemplate(ASKED).generate_item({"q": "1", "a": "2"}, "a")
    assert model.generate_from_template([dialogue], 3) == ["HUMAN"]
    assert (model.retry, model.is_api, model.get_token_len("two words 你好")) == (5, True, 4)


@pytest.mark.parametrize(
    "lead, messages, shown",
    [
        ([], ["user hi"], ["user hi"]),
        (["system Be kind. "], ["user hi"], ["system Be kind. ", "user hi"]),
        (["system Be kind. "], ["system And short.", "user hi"], ["system Be kind. And short.", "user hi"]),
        (["user Q: "], ["system Be kind.", "user hi"], ["system Be kind.", "user Q: hi"]),
        (["user a", "assistant b"], ["user hi"], ["user ahi", "assistant b"]),
    ],
)
def test_messages_of_a_model_stand_before_those_of_their_role(lead, messages, shown):
    from opencompass.models.base_api import APITemplateParser

    def listed(texts):
        return [dict(zip(("role", "content"), each.split(" ", 1), strict=True)) for each in texts]

    assert APITemplateParser(listed(lead)).parse_template(listed(messages), "gen") == listed(shown)


def test_a_way_of_asking_that_is_not_there_is_refused():
    from opencompass.models.base_api import APITemplateParser

    with pytest.raises(TemplateError, match="there is no mode 'choose'"):
        APITemplateParser(META).parse_template("text", "choose")


def test_models_runners_and_tasks_are_refused_when_they_are_used():
    from opencompass.models import HuggingFaceCausalLM
    from opencompass.partitioners import NaivePartitioner  # noqa: F401
    from opencompass.runners import LocalRunner
    from opencompass.tasks import OpenICLInferTask

    for kind in (LocalRunner, OpenICLInferTask):
        with pytest.raises(NotAllowedError, match="proctor run"):
            kind()
    with pytest.raises(NotAllowedError, match="engines"):
        type("Mine", (HuggingFaceCausalLM,), {})


def test_data_is_found_where_the_variable_says(tmp_path, monkeypatch):
    from opencompass.utils import get_data_path, get_logger

    monkeypatch.setenv("COMPASS_DATA_CACHE", str(tmp_path))
    (tmp_path / "data").mkdir()
    assert get_data_path("data", local_mode=True) == str(tmp_path / "data")
    assert get_data_path("opencompass/gsm8k") == "opencompass/gsm8k"
    with pytest.raises(FileNotFoundError, match="COMPASS_DATA_CACHE"):
        get_data_path("nothing", local_mode=True)
    assert get_logger().name == "proctor"


def test_a_class_that_overrides_a_step_that_nothing_calls_is_refused():
    from ais_bench.benchmark.datasets import MATHEvaluator
    from opencompass.datasets import Gsm8kEvaluator

    with pytest.raises(UsageError, match=r"Mine\.is_equal would never be called"):
        type("Mine", (Gsm8kEvaluator,), {"is_equal": lambda *_: True})

    class Mine(MATHEvaluator):
        def is_equiv(self, *_):
            return True

        def score(self, predictions, references):
            return {"share": sum(map(self.is_equiv, predictions, references))}

    assert Mine().score(["1"], ["2"]) == {"share": 1}


def test_an_evaluator_without_score_says_so():
    from opencompass.openicl.icl_evaluator import BaseEvaluator

    with pytest.raises(UsageError, match="Mine has no 'score'"):
        type("Mine", (BaseEvaluator,), {})().score([], [])


def test_registries_hold_what_code_registers_and_find_what_is_here():
    from ais_bench.benchmark.registry import LOAD_DATASET as OF_AISBENCH
    from opencompass.registry import LOAD_DATASET, MODELS, TEXT_POSTPROCESSORS

    @MODELS.register_module(["one", "two"])
    class Mine:
        def __init__(self, size):
            self.size = size

    assert MODELS.build({"type": "pkg.two", "size": 3}).size == 3
    assert "one" in MODELS
    assert len(MODELS.module_dict) == 2
    with pytest.raises(KeyError, match="already registered"):
        MODELS.register_module("one", force=False, module=Mine)
    with pytest.raises(KeyError, match="model"):
        MODELS.build({"type": "nothing"})
    with pytest.raises(TypeError, match="classes and functions"):
        MODELS.register_module("x", module=3)
    assert LOAD_DATASET.get("GSM8KDataset") is not OF_AISBENCH.get("GSM8KDataset")
    assert TEXT_POSTPROCESSORS.get("first_option_postprocess")("so (B)", "ABCD") == "B"
    MODELS.module_dict.clear()


def test_dataset_classes_load_rows(tmp_path):
    from opencompass.datasets import JsonlDataset

    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps({"q": str(each)}) for each in range(3)))
    assert [row["q"] for row in JsonlDataset.load(str(tmp_path / "rows.jsonl"))] == ["0", "1", "2"]
    made = JsonlDataset({"input_columns": ["q"], "output_column": "q"}, path=str(tmp_path / "rows.jsonl"), n=2)
    assert [row["idx"] for row in made.test] == [0, 1, 2, 0, 1, 2]
    with pytest.raises(FileNotFoundError):
        JsonlDataset.load(str(tmp_path / "none.jsonl"))
    with pytest.raises(TypeError, match="path"):
        JsonlDataset.load()
    with pytest.raises(TypeError, match="at most"):
        JsonlDataset.load("a", 2, 3, 4, 5, 6)


def test_rows_of_aisbench_stand_copy_by_copy():
    from ais_bench.benchmark.datasets.base import BaseDataset

    class Two(BaseDataset):
        def load(self):
            return [{"q": "a"}, {"q": "b"}]

    found = Two({"input_columns": ["q"], "output_column": "q"}, n=2, task_state_manager="told").test
    assert [row["q"] for row in found] == ["a", "a", "b", "b"]


def test_configs_of_mmengine_are_read_and_merged(tmp_path):
    from mmengine.config import Config, ConfigDict, read_base

    (tmp_path / "c.py").write_text("from opencompass.models import OpenAI\nmodels = [dict(type=OpenAI, path='m')]\n")
    found = Config.fromfile(str(tmp_path / "c.py"))
    assert found.models[0].path == "m"
    found.merge_from_dict({"models.0.path": "n", "work_dir": "w"})
    assert (found.models[0].path, found.work_dir, found.filename) == ("n", "w", str(tmp_path / "c.py"))
    found.dump(tmp_path / "d.py")
    assert Config.fromfile(tmp_path / "d.py").models[0].path == "n"
    assert ConfigDict(a={"b": 1}).a.b == 1
    with read_base():
        pass
