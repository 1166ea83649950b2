"""Programs written for OpenCompass and AISBench: what they print is what they print with the real packages."""

import pytest
import tests_warm

AISBENCH_PROGRAM = """
from ais_bench.benchmark.models.api_models.base_api import APITemplateParser
from ais_bench.benchmark.models.local_models.base import LMTemplateParser
from ais_bench.benchmark.openicl.icl_prompt_template import MultiTurnPromptTemplate, PromptTemplate
from ais_bench.benchmark.utils.prompt import PromptList, safe_format

rows = [{"question": f"{i}+{i}=?", "answer": str(2 * i)} for i in range(1, 5)]
said = [dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt="{answer}")]
ice = PromptTemplate(dict(round=said))
system = dict(role="SYSTEM", fallback_role="HUMAN", prompt="Solve.")
asking = PromptTemplate(dict(begin=[system, "</E>"], round=said), ice_token="</E>")
shown = PromptList()
for row in (rows[0], rows[2]):
    shown += ice.generate_ice_item(row, row["answer"])
made = asking.generate_item(rows[3], "answer", "", shown)
labelled = asking.generate_label_prompt_item(rows[3], shown, "8")
human = dict(role="HUMAN", begin="H:", end="\\n", api_role="HUMAN")
bot = dict(role="BOT", begin="B:", generate=True, api_role="BOT")
parser = LMTemplateParser(dict(begin="<s>", round=[human, bot], end="</s>"))
print(repr(parser.parse_template(made, mode="gen")))
print(repr(parser.parse_template([labelled, "text"], mode="ppl")))
api = APITemplateParser({"round": [human, bot]})
print(list(api.parse_template(made, mode="gen")))
print(type(made).__name__, isinstance(made, PromptList), made[0], len(made))
print(repr(PromptTemplate("Q: {question} A: {answer}").generate_item(rows[3], "answer")))
print(PromptTemplate("{question}</E>", "</E>").generate_item(rows[0]), safe_format("{a}{b}", a="{b}", b=1))
turns = MultiTurnPromptTemplate(dict(round=said))
print(list(turns.generate_item(dict(question=["a", "b"], answer=["1", "2"])))[1:3])
"""
AISBENCH_PRINTS = r"""
'<s>H:Solve.\nH:1+1=?\nB:2H:3+3=?\nB:6H:4+4=?\nB:'
['<s>H:Solve.\nH:1+1=?\nB:2H:3+3=?\nB:6H:4+4=?\nB:8</s>', 'text']
[{'role': 'HUMAN', 'prompt': 'H:Solve.\n\nH:1+1=?\n'}, {'role': 'BOT', 'prompt': 'B:2'}, {'role': 'HUMAN', 'prompt': 'H:3+3=?\n'}, {'role': 'BOT', 'prompt': 'B:6'}, {'role': 'HUMAN', 'prompt': 'H:4+4=?\n'}]
PromptList True {'section': 'begin', 'pos': 'begin'} 15
'Q: 4+4=? A: '
1+1=? 11
[{'role': 'HUMAN', 'prompt': 'a'}, {'role': 'BOT', 'prompt': '1'}]
"""

OPENCOMPASS_PROGRAM = """
from opencompass.datasets.base import BaseDataset
from opencompass.models.base import LMTemplateParser
from opencompass.models.base_api import APITemplateParser
from opencompass.openicl import PromptTemplate, RawPromptTemplate
from opencompass.openicl.icl_retriever import FixKRetriever


class Sums(BaseDataset):
    @staticmethod
    def load(count):
        rows = [{"question": f"{i}+{i}=?", "answer": str(2 * i)} for i in range(1, count + 1)]
        return {"train": rows, "test": rows}


dataset = Sums(dict(input_columns="question", output_column="answer", test_range="[:2]"), count=6)
rows = dataset.train
label_map = PromptTemplate({"2": "</E>{question} is 2", "4": "</E>{question} is 4"}, ice_token="</E>")
ice = PromptTemplate({"2": "{question} is 2", "4": "{question} is 4", "6": "{question} is 6"})
shown = " | ".join(ice.generate_ice_item(rows[each], rows[each]["answer"]) for each in (0, 2)) + "\\n"
print(repr(shown), repr(label_map.generate_label_prompt_item(dataset.test[1], shown, "4")))
try:
    FixKRetriever(dataset, [0, 2])
except Exception as error:
    print(error)
raw = RawPromptTemplate([{"role": "system", "content": "Be brief."}, "</E>", {"role": "user", "content": "{question}"}])
messages = raw.generate_item(rows[0], ice_field_replace_token=[{"role": "user", "content": "hi"}])
print(APITemplateParser([{"role": "user", "content": "Please: "}]).parse_template(messages, mode="gen"))
dialogue = PromptTemplate(dict(round=[dict(role="HUMAN", prompt="{question}")])).generate_item(rows[0])
print(LMTemplateParser().parse_template(dialogue, mode="gen"))
"""
OPENCOMPASS_PRINTS = r"""
'1+1=? is 2 | 3+3=? is 6\n' '1+1=? is 2 | 3+3=? is 6\n2+2=? is 4'
Proctor has no 'FixKRetriever' of 'opencompass.openicl.icl_retriever'
  why: a config names it, and proctor run CONFIG.py does its work
[{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Please: hi'}, {'role': 'user', 'content': '1+1=?'}]
1+1=?
"""


@pytest.mark.parametrize(
    "program, prints",
    [(AISBENCH_PROGRAM, AISBENCH_PRINTS), (OPENCOMPASS_PROGRAM, OPENCOMPASS_PRINTS)],
    ids=["ais_bench", "opencompass"],
)
def test_programs_run_unchanged(tmp_path, program, prints):
    path = tmp_path / "program.py"
    path.write_text(program)
    done = tests_warm.python("-m", "proctor.compat", path)
    assert done.stdout.strip() == prints.strip(), done.stderr


SCORING_PROGRAM = """
from ais_bench.benchmark.datasets import MMStarEvaluator, gsm8k_postprocess
from ais_bench.benchmark.datasets.gsm8k import Gsm8kEvaluator
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator, BaseEvaluator
from ais_bench.benchmark.datasets.refcoco import BBoxIoUEvaluator
from ais_bench.benchmark.registry import ICL_EVALUATORS, PARTITIONERS, TEXT_POSTPROCESSORS, build_from_cfg
from ais_bench.benchmark.utils.postprocess.text_postprocessors import first_capital_postprocess
from ais_bench.benchmark.utils.prompt import get_prompt_hash

print(AccEvaluator().score(["A", "B"], ["A", "A"]), "error" in AccEvaluator().score(["A"], []))
print(BBoxIoUEvaluator(iou_threshold=0.5).score([[0, 0, 500, 500]], [
    dict(bbox=[0, 0, 50, 50], image_width=100, image_height=100)])["Accuracy@0.5"])
print(ICL_EVALUATORS.get("AccEvaluator").__name__, first_capital_postprocess("the B"))
print(Gsm8kEvaluator().score([gsm8k_postprocess("so 12.")], ["12"])["accuracy"], TEXT_POSTPROCESSORS.get("general")("The cat."))

@TEXT_POSTPROCESSORS.register_module("turned")
def turned(text):
    return text[::-1]

@PARTITIONERS.register_module("mine")
class Mine:
    def __init__(self, size):
        self.size = size

print(TEXT_POSTPROCESSORS.get("turned")("ab"), build_from_cfg(dict(type="mine", size=3)).size)
infer = dict(prompt_template=dict(type="PromptTemplate", template="{q}"), retriever=dict(type="ZeroRetriever"),
             inferencer=dict(type="GenInferencer"))
print(get_prompt_hash(dict(infer_cfg=infer)), get_prompt_hash({}), len(get_prompt_hash([dict(infer_cfg=infer)] * 2)))

class Own(BaseEvaluator):
    def score(self, predictions, references):
        return {"count": len(predictions)}

print(Own().score([1], [2]))
"""


def test_scores_and_registries_of_aisbench_are_names_that_work(tmp_path):
    (tmp_path / "program.py").write_text(SCORING_PROGRAM)
    done = tests_warm.python("-m", "proctor.compat", tmp_path / "program.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "{'accuracy': 50.0} True",
        "100.0",
        "AccEvaluator B",
        "100.0 cat",
        "ba 3",
        HASH,
        "{'count': 1}",
    ]


HASH = "a90879e4a0cb52a2b9bb223c1a5105b5dd2e69a32062df070e6b4f57d2dbf259 / 64"
"""What AISBench 3.1 prints."""


@pytest.mark.parametrize("splits", [False, True])
def test_rows_of_a_dataset_class_stand_as_often_as_it_says(splits):
    from proctor.dialects.aisbench.classes.base_datasets import BaseDataset

    class Two(BaseDataset):
        def load(self):
            rows = [{"q": "a"}, {"q": "b"}]
            return {"train": rows, "test": rows} if splits else rows

    found = Two({"input_columns": ["q"], "output_column": "q"}, abbr="two", k=2, n=2).test
    assert [row["q"] for row in found] == ["a", "b", "a", "b"]  # OpenCompass' order: all rows, and all again
    assert [row["idx"] for row in found] == [0, 1, 0, 1]
    assert {row["subdivision"] for row in found} == {"two_test" if splits else "two"}
    with pytest.raises(AssertionError, match="k is 3"):
        Two({"input_columns": ["q"], "output_column": "q"}, k=[1, 3], n=2)
