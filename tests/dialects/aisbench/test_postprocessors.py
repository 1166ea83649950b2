from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_pace import in_time

from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_names
from proctor.dialects.aisbench.values import Reference
from proctor.errors import ScoringError, TrustError
from proctor.scoring.named_table import OPENCOMPASS
from proctor.scoring.text.text_functions import AISBENCH, text_function_table
from proctor.settings import settings

ARGUMENTS = {
    "first_option_postprocess": {"options": "ABCD"},
    "first_option_postprocess_v1": {"options": "ABCD"},
    "last_option_postprocess": {"options": "ABCD"},
    "think_pred": {"re_pattern": "x(.)"},
    "think_pred_postprocess": {"re_pattern": "x(.)"},
    "specific-xml-tag": {"tag": "<a>"},
    "xml_tag_postprocessor": {"tag": "<a>"},
    "match_answer_pattern": {"answer_pattern": "x(.)"},
    "mathbench_postprocess": {"name": "cloze_en"},
    "mgsm_postprocess": {"lang": "en"},
    "LLM4Mat_postprocessor": {"property": "gap"},
    **{name: {"lang_code": "en"} for name in postprocessor_names() if name.startswith("pmmeval")},
    **{name: {"lang_fullname": "English"} for name in postprocessor_names() if name.startswith("pmmeval_flores")},
}
MAY_FAIL = {"gsm8k_dataset", "gsm8k_dataset_postprocess"}
NEEDS_JIEBA = {"general_cn", "general_cn_postprocess", "flores-chinese", "flores_postprocess_chinese"}
OURS = [entry for entry in text_function_table() if entry.system in (OPENCOMPASS, AISBENCH)]
EACH = sorted(
    {entry.target: entry.name for entry in OURS if entry.name not in MAY_FAIL | NEEDS_JIEBA}.values()
)  # one name of each function


def process(name: str, text: str, /, **arguments):
    return postprocessor({"type": name, **arguments})(text)


@pytest.mark.parametrize(
    "text, option",
    [
        ("The answer is B.", "B"),
        ("答案是：C", "C"),
        ("So the answer is (D)", "D"),
        ("ANSWER: a, or rather ANSWER: B", "B"),
        ("The correct answer is: thus \\boxed{C}", "C"),
        ("I would say B because A is wrong", "B"),
        ("Bad things happen", "B"),
        ("nothing here", ""),
        ("", ""),
        ("选A", "A"),
    ],
)
def test_the_first_option_is_the_one_that_is_stated(text, option):
    assert process("first_option_postprocess", text, options="ABCD") == option


def test_without_a_cushion_a_mention_is_no_statement():
    assert process("first_option_postprocess", "Bad things happen", options="ABCD", cushion=False) == ""


@pytest.mark.parametrize(
    "name, text, answer",
    [
        ("general", "The cat, a dog", "cat"),
        ("first-capital", "so B or C", "B"),
        ("last-capital", "so B or C", "C"),
        ("first-capital-multi", "x ABD C", "ABD"),
        ("multiple-select", "CBA, C", "ABC"),
        ("first_number_postprocess", "about -3.5 or 4", -3.5),
        ("first_number_postprocess", "none", None),
        ("gsm8k", "2 + 3 = 5\nQuestion: 7", "5"),
        ("gsm8k", "none", "NULL"),
        ("gsm8k_dataset", "so #### 1,234", "1234"),
        ("bbh-mcq", "the answer is (C).", "C"),
        ("bbh-freeform", "So the answer is: **yes**.", "Yes"),
        ("math_postprocess_v2", "so \\boxed{{\\frac{1}{2}}}", "\\frac{1}{2}"),
        ("math_postprocess_v2", "The final answer is $3\\text{ cm}$. ok", "3"),
        ("extract-non-reasoning-content", "<think>a B</think> C", "C"),
        ("extract-non-reasoning-content", "a B</think> C", "C"),
        ("lcsts", "1. “标题。”\nx", "标题"),
        ("GPQA_Simple_Eval_postprocess", "Answer : d", "d"),
        ("strategyqa", "Thus the answer is Yes.", "yes"),
        ("crowspairs_postprocess", "Both", "invalid"),
        ("humaneval_postprocess_v2", "x\n```python\n  a = 1\n```", "a = 1\n"),
    ],
)
def test_answers_are_found(name, text, answer):
    assert process(name, text) == answer


def test_the_projects_have_their_own_rules_where_they_differ():
    text = "The answer is yes, sir"
    assert postprocessor({"type": Reference("opencompass.datasets.bbh_freeform_postprocess")})(text) == "Yes"
    assert (
        postprocessor({"type": Reference("ais_bench.benchmark.datasets.bbh_freeform_postprocess")})(text) == "yes, sir"
    )
    assert postprocessor({"type": "bbh-freeform"}, "aisbench")(text) == "yes, sir"


def test_no_post_processor_leaves_texts_as_they_are():
    assert postprocessor(None)(" x ") == " x "


def test_an_unknown_name_is_an_error_with_its_neighbours():
    with pytest.raises(
        ScoringError, match=r"'first_option_postproces' is not known(.|\n)*did you mean 'first_option_postprocess'"
    ):
        postprocessor({"type": "first_option_postproces"})
    with pytest.raises(ScoringError, match="'gsm8k_postprocess' is not known"):
        postprocessor({"type": Reference("mine.gsm8k_postprocess")})


def test_a_function_runs_only_where_code_is_trusted():
    with pytest.raises(TrustError, match="is code"):
        postprocessor({"type": str.upper})
    with settings.context(trust_code=True):
        assert postprocessor({"type": str.upper})("a") == "A"
        assert postprocessor({"type": Reference("textwrap.dedent")})("  a") == "a"


def test_model_text_is_never_evaluated():
    assert process("general_eval_wrapper_postprocess", "['a', 1]") == ["a", 1]
    text = "__import__('os').system('false')"
    assert process("general_eval_wrapper_postprocess", text) == text
    assert process("general_eval_wrapper_postprocess", "'B is it'", postprocess="first-capital") == "B"


@pytest.mark.parametrize("pattern", ["(a+)+$", "("])
def test_patterns_of_configs_are_checked(pattern):
    with pytest.raises(ScoringError, match="reads no answer with these arguments"):
        process("match_answer_pattern", "aaaa", answer_pattern=pattern)


@pytest.mark.parametrize("name", EACH)
@given(text=st.text(st.sampled_from(list("AB(){}\\ $.,\n1-5答案是：x=_/")) | st.characters(), max_size=60))
def test_no_text_makes_a_post_processor_fail(name, text):
    process(name, text, **ARGUMENTS.get(name, {}))


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize(
    "unit",
    ["a", "{", "\\boxed{", "1,", "The correct answer is ", "<think>", "答案是 ", "  ", "**", "=", "<a>", "```\n"],
)
def test_long_texts_are_read_in_bounded_time(name, unit):
    start = time.process_time()
    process(name, unit * (20_000 // len(unit)), **ARGUMENTS.get(name, {}))
    assert in_time(time.process_time() - start, 3)


@pytest.mark.parametrize("name", sorted(NEEDS_JIEBA))
def test_chinese_texts_are_cut_into_words(name):
    pytest.importorskip("jieba")
    assert process(name, "今天天气很好") in ("今天天气 很 好", "今天 天气 很 好")
