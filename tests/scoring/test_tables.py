"""Every metric and every text function of the tables: found, checked and used by name, from every dialect."""

import json

import pytest

from proctor.dialects.aisbench.evaluation import evaluate
from proctor.dialects.aisbench.evaluation_checks import check_evaluator
from proctor.dialects.aisbench.postprocessors import postprocessor
from proctor.dialects.lm_eval.filters import make_filter
from proctor.dialects.lm_eval.metrics import core_metric, is_core_metric, metric_problems
from proctor.dialects.resolve import resolve_task
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import MissingExtraError, ScoringError
from proctor.ir import Response, Scored
from proctor.ir.question import Answered
from proctor.prison.choice import BY_STRENGTH, examined
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.scoring.columns import Columns
from proctor.scoring.evaluators.metrics import references_of
from proctor.scoring.metric_table import check_metric, metric_of, metric_table
from proctor.scoring.named_table import LM_EVAL, OPENCOMPASS, Entry, Table
from proctor.scoring.pipeline import grade
from proctor.scoring.text.processors import fetch_processor
from proctor.scoring.text.text_functions import text_function_table
from proctor.settings import settings

SANDBOX = "auto" if any(examined(name).works for name in BY_STRENGTH) else "none"
A = ("A", "A"), ("A", "B")
"""Predictions and golds of most examples."""

CHOICES = {"choices": ["A", "BB"]}
LIKELY = [[Response(scores=(Scored(-1.0, True), Scored(-3.0), Scored(-2.0), Scored(-2.0)))]] * 2
ROLLED = [[Response(scores=(Scored(-4.0),))]] * 2
ITEMS = "item_id"
THREE_TURNS = {
    f"turn_{turn}_{key}": value
    for turn in (1, 2, 3)
    for key, value in {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}], "prompt": "p"}.items()
}
MCQ_ROW = {"difficult": 0, "options": ["A", "B"], "label": "A", "question_type": "x", "answer": "A"}

EXAMPLES = {
    **dict.fromkeys(("f1", "mcc"), ((1, 0), (1, 1))),
    "AccContaminationEvaluator": (*A, [{"is_clean": "clean"}, {"is_clean": "input contamination"}]),
    "EDAccEvaluator": (("yes", "no"), ({"candidates": ["yes", "no"], "label": 0},) * 2),
    "AUCROCEvaluator": (([0.9, 0.1], [0.2, 0.8]), (0, 1)),
    "CircularEvaluator": (("A", "B"), ("q--A--ABCD", "q--B--BCDA")),
    "datasets.CircularEvaluator": (
        *A,
        [{"circular_pattern": "AB", "qid": 0}, {"circular_pattern": "BA", "qid": 0}],
    ),
    "LongBenchClassificationEvaluator": (A[0], ({"answers": ["A"], "all_classes": ["A", "B"]},) * 2),
    **dict.fromkeys(
        ("NeedleBenchOriginEvaluator", "needlebench_v2.NeedleBenchOriginEvaluator", "NeedleBenchMultiEvaluator"),
        (A[0], ("A*word", "A*A")),
    ),
    "NeedleBenchParallelEvaluator": (A[0], ("A*B#0*50", "A*B#0*50")),
    "MRCREvaluator": (("xyA", "B"), (json.dumps({"answer": "xyA", "prefix": "xy"}),) * 2),
    "QuALITYEvaluator": (*A, [{"difficult": 0}, {"difficult": 1}]),
    "LVEvalOPTF1Evaluator": (("some words", "other words"), (["some words", "some"],) * 2),
    "HumanEvalEvaluator": (
        ("    return 1\n", "    return 2\n"),
        ("a", "b"),
        [{"prompt": "def f():\n", "test": "def check(f):\n    assert f() == 1\n", "entry_point": "f"}] * 2,
    ),
    **dict.fromkeys(
        ("MBPPEvaluator", "MBPPEvaluator2"),
        (("[BEGIN]\nx = 1\n[DONE]", "[BEGIN]\nx = 2\n[DONE]"), ("assert x == 1",) * 2),
    ),
    "MBPPPassKEvaluator": (
        ("[BEGIN]\nx = 1\n[DONE]", "[BEGIN]\nx = 2\n[DONE]"),
        ({"test_list_2": "assert x == 1", "task_id": 1}, {"test_list_2": "assert x == 1", "task_id": 2}),
    ),
    "code_eval": (("def f(): return 1", "def f(): return 2"), ("assert f() == 1",) * 2),
    "IFEvaluator": (
        ("a, b", "ab"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}], "prompt": "p", "key": 1},) * 2,
    ),
    "IFBenchEvaluator": (
        ("a, b", "ab"),
        ({"instruction_id_list": ["format:no_whitespace"], "kwargs": [{}], "prompt": "p", "key": 1},) * 2,
    ),
    "MultiIFEvaluator": ((["a, b"] * 3, ["ab"] * 3), (THREE_TURNS,) * 2),
    **dict.fromkeys(("MedbulletsEvaluator", "MedmcqaEvaluator", "NejmaibenchEvaluator"), (*A, [MCQ_ROW] * 2)),
    "TabMWPEvaluator": (("The answer is 1", "2"), ({"unit": None, "choices": None, "answer": "1"},) * 2),
    "OpenSWIMSEEvaluator": (("[1.0, 2.0]", "[1.0]"), ([1.0, 2.0],) * 2),
    "RMSEEvaluator": (("<NUMBER>1</NUMBER>", ""), ("<NUMBER>2</NUMBER>",) * 2),
    "MAEEvaluator": (("<NUMBER>1</NUMBER>", ""), ("2",) * 2),
    **dict.fromkeys(
        ("PMMEvalMHellaswagEvaluator", "PMMEvalMLogiQAEvaluator"),
        ((("the answer is A", "en"), ("B", "en")), (0, 0)),
    ),
    "PMMEvalMMMLUEvaluator": ((("the answer is A", "en"), ("B", "en")), ("A", "A")),
    "PMMEvalXNLIEvaluator": ((("the answer is A", "en"), ("B", "en")), ("A", "A")),
    "PMMEvalFloresEvaluator": ((("a b c d", "English"), ("x", "English")), ("a b c d", "a b")),
    "AccDropEvaluator": (("A", "A"), ("B", "A")),
    **dict.fromkeys(
        ("TEXTEvaluator", "TEXTEvaluatorForGlm4v", "TEXTEvaluatorForVita"), (A[0], ([{"answer": "A"}] * 10,) * 2)
    ),
    "MMStarEvaluator": (
        ("A", "B"),
        ({"choices": json.dumps({"A": "x", "B": "y"}), "answer": "A", "category": "c"},) * 2,
    ),
    **dict.fromkeys(
        ("MMMUProEvaluator", "MMMUProCotEvaluator"), (("A", "B"), (json.dumps([{"A": "x", "B": "y"}, "A", "c"]),) * 2)
    ),
    "VideoMMEEvaluator": (
        ("A", "B"),
        ({"answer": "A", "domain": "d", "sub_category": "s", "task_type": "t", "duration": "short"},) * 2,
    ),
    "Math401Evaluator": (("1", "2"), ("1", "1")),
}
ARGUMENTS = {
    "OptionSimAccEvaluator": {"options": ["A", "B"]},
    "CircularOptionSimAccEvaluator": {"options": ["A", "B"]},
    "GaokaoBenchEvaluator": {"question_type": "single_choice"},
    "KaoshiEvaluator": {"question_type": "single_choice"},
    "GenericLLMEvaluator": {"prompt_template": {}},
    "CascadeEvaluator": {"llm_evaluator": {}},
    "LMEvaluator": {"prompt_template": {}},
    "pattern": {"pattern": "([A-Z])"},
    "answer": {"pattern": "letter"},
}
ELSEWHERE = {
    "AveragePPLEvaluator": "no answer of a model has the column that it reads",
    "AverageMinKEvaluator": "the same",
    "CircularOptionSimAccEvaluator": "tested in tests/dialects/aisbench/test_evaluators.py, with rows in all orders",
    "GenericLLMEvaluator": "asks a judge: test_evaluators.py",
    "CascadeEvaluator": "asks a judge: test_evaluators.py",
    "LMEvaluator": "asks a judge: tests/dialects/aisbench/test_pair_judges.py",
    "MeteorEvaluator": "needs data of NLTK",
    "LCPassKEvaluator": "tested in test_exam_evaluators.py",
    "OCRBenchV2Evaluator": "reads columns of its own: tests/scoring/ocrbench, and beside ais_bench",
    **dict.fromkeys(
        (
            "HumanEvalPlusEvaluator",
            "HumanevalProEvaluator",
            "MBPPProEvaluator",
            "LCBCodeGenerationEvaluator",
            "LCBCodeExecutionEvaluator",
            "LCBTestOutputEvaluator",
            "APPSEvaluator",
            "TACOEvaluator",
            "BigCodeBenchEvaluator",
            "ds1000",
        ),
        "tested in test_code_exams.py",
    ),
    "ATLASLLMEvaluator": "asks a judge: test_subjective_judges.py",
    **dict.fromkeys(
        (
            "BFCLSingleTurnEvaluator",
            "JudgeEvaluator",
            "SuperGPQAEvaluator",
            "MedXpertQAEvaluator",
            "ProteinLMBenchEvaluator",
            "SciKnowEvalEvaluator",
            "ZebraLogicGridEvaluator",
            "CRUXEvalOEvaluator",
            "LLM4Mat_Evaluator",
            "TEvalEvaluator",
        ),
        "reads columns of its own: replayed beside OpenCompass, aisbench/evaluators-of-exams",
    ),
    "acc_all": "made by process_results of tasks",
    **dict.fromkeys(("SciCodeEvaluator", "scicode"), "reads a file of targets: test_scicode.py"),
}
NEED_RESPONSES = {each.name for each in metric_table().of(LM_EVAL).values() if each.reads in ("choices", "likelihood")}


def example(entry):
    predictions, golds, *rows = EXAMPLES.get(entry.name, A)
    rows = rows[0] if rows else [{}, {}]
    if entry.reads == "choices":
        rows = [CHOICES] * 2
    return list(predictions), list(golds), rows


def usable(entry):
    if entry.name in ELSEWHERE:
        pytest.skip(ELSEWHERE[entry.name])
    metric = metric_of(entry.key, arguments=ARGUMENTS.get(entry.name, {}))
    with settings.context(sandbox=SANDBOX, trust_code=True):
        problems = list(metric.check())
    if problems and "is not installed" in problems[0].what:
        pytest.skip(problems[0].what)
    assert not problems
    return metric


EACH = [pytest.param(entry, id=entry.key) for entry in metric_table()]


@pytest.mark.parametrize("entry", EACH)
def test_every_metric_in_a_recipe_and_in_evaluate(entry):
    metric = usable(entry)
    predictions, golds, rows = example(entry)
    responses = {"choices": LIKELY, "likelihood": ROLLED}.get(entry.reads, ())
    columns = Columns(predictions, [[gold] for gold in golds], rows, responses)
    with settings.context(sandbox=SANDBOX, trust_code=True):
        found = grade(columns, [metric])
    assert not found.metric_failures
    assert not found.failures
    assert isinstance(found.scores["score"], int | float)
    assert {score.unit for score in found.table} == {entry.unit}
    assert {score.higher_is_better for score in found.table} == {entry.higher_is_better}


@pytest.mark.parametrize("entry", EACH)
def test_every_metric_in_a_config(entry):
    usable(entry)
    predictions, golds, rows = example(entry)
    config = {"type": entry.key, **ARGUMENTS.get(entry.name, {})}
    with settings.context(sandbox=SANDBOX, trust_code=True):
        assert not list(check_evaluator(config))
        if entry.name in NEED_RESPONSES - {"acc"}:
            with pytest.raises(ScoringError, match="log-likelihood"):
                evaluate({"evaluator": config}, predictions, golds, rows)
            return
        found = evaluate({"evaluator": config}, predictions, golds, rows)
    assert found.main in found.scores
    assert not found.failures


@pytest.mark.parametrize("entry", EACH)
def test_every_metric_in_a_task(entry):
    usable(entry)
    predictions, golds, rows = example(entry)
    step = {"metric": entry.key, **ARGUMENTS.get(entry.name, {})}
    with settings.context(sandbox=SANDBOX, trust_code=True):
        assert not list(metric_problems(step))
        if entry.system == LM_EVAL and entry.reads != "columns":  # lm-eval's own, whose numbers test_exam.py holds
            assert not is_core_metric(step)
            return
        metric = core_metric(step).metric
        found = metric.measure(Columns(predictions, references_of(golds, metric.prediction_type), rows))
    assert found.failure is None
    assert isinstance(found.score(found.main).value, int | float)


@pytest.mark.parametrize(
    "name", ["metrics.accuracy", "metrics.rouge", "metrics.f1_macro", "metrics.string_containment"]
)
def test_a_catalog_metric_gives_one_number_everywhere(name, tmp_path):
    predictions, golds = ["a b", "c", "d e"], ["a b", "d", "d"]
    recipe = grade(Columns(predictions, [[gold] for gold in golds], [{}] * 3), [name])
    config = evaluate({"evaluator": {"type": name}}, predictions, golds, [{}] * 3)
    scores = task_scores(tmp_path, name, predictions, golds)
    main = recipe.scores["score_name"]
    assert config.main == main == next(iter(scores))
    assert config.scores[main] == scores[main] == recipe.scores["score"]
    assert tuple(config.bounds[main]) == (scores[f"{main}_ci_low"], scores[f"{main}_ci_high"])
    assert scores[f"{main}_ci_low"] == recipe.scores["score_ci_low"]


def task_scores(folder, metric, predictions, golds):
    """Return the scores of a YAML task with a metric."""
    lines = [json.dumps({"q": f"question {place}", "a": gold}) + "\n" for place, gold in enumerate(golds)]
    (folder / "rows.jsonl").write_text("".join(lines))
    task = {
        "task": "t",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / "rows.jsonl")}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{a}}",
        "metric_list": [{"metric": metric}],
    }
    (folder / "t.yaml").write_text(json.dumps(task))
    (exam,) = resolve_task(str(folder / "t.yaml"), ExamOptions())
    assert not exam.problems()
    responses = [(Response(texts=(text,)),) for text in predictions]
    return exam.grade(map(Answered, exam.questions(), responses)).scores


def test_an_evaluator_gives_one_number_everywhere(tmp_path):
    predictions, golds = ["a", "b", "c"], ["a", "b", "d"]
    config = evaluate({"evaluator": {"type": "AccEvaluator"}}, predictions, golds, [{}] * 3)
    recipe = grade(Columns(predictions, [[gold] for gold in golds], [{}] * 3), ["AccEvaluator"])
    task = task_scores(tmp_path, "AccEvaluator", predictions, golds)
    assert task["accuracy"] == config.scores["accuracy"] == recipe.scores["accuracy"] == 2 / 3 * 100
    assert task["accuracy_ci_low"] == recipe.scores["accuracy_ci_low"]


# -- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, wanted",
    [("AccEvaluatr", "AccEvaluator"), ("exactmatch", "exact_match"), ("lm_eval:acc_nrm", "acc_norm")],
)
def test_an_unknown_metric_has_neighbours_of_all_tables(name, wanted):
    with pytest.raises(ScoringError, match=f"no metric '{name}'(.|\n)*'{wanted}'"):
        metric_of(name)
    (problem,) = metric_problems({"metric": name})
    assert wanted in problem.hint
    (problem,) = check_evaluator({"type": name})
    assert wanted in problem.hint or ":" in name


def test_the_own_system_comes_first():
    table = Table("metric", [Entry(name="x", system=each, target=f"{each}:f") for each in (OPENCOMPASS, LM_EVAL)])
    assert table.find("x", OPENCOMPASS).system == OPENCOMPASS
    assert table.find("x", "plugin").system == LM_EVAL
    assert table.find(f"{OPENCOMPASS}:x", LM_EVAL).system == OPENCOMPASS
    assert table.find("y", LM_EVAL) is None


def test_a_table_is_a_value_that_plugins_extend():
    entry = Entry(name="mine", system="plugin", target="plugin:f")
    table = Table("metric")
    longer = table.extended([entry])
    assert longer.find("mine", LM_EVAL) is entry
    assert not len(table)
    table.register(entry)
    assert [*table] == [entry]


def test_what_is_wrong_is_known_before_anybody_is_asked():
    with settings.context(sandbox="none"):
        assert "without a prison" in next(check_metric("HumanEvalEvaluator")).what
    assert "needs the argument 'options'" in next(check_metric("OptionSimAccEvaluator")).what
    assert "no argument 'option'" in next(check_metric("OptionSimAccEvaluator[option=A]")).what
    assert "takes no arguments" in next(check_metric("bleu[tokenize=zh]")).what
    assert "no metric" in next(check_metric("nothing")).what


# -- text functions -----------------------------------------------------------------------------------------------

OF_TEXT = {
    "one_after_another": {"steps": [{"type": "regex", "regex_pattern": "([A-Z])"}, {"type": "lowercase"}]},
    "regex": {"regex_pattern": "([A-Z])"},
    "take_first_k": {"k": 1},
    **{
        key: {"options": "ABCD"}
        for key in ("first_option_postprocess", "first_option_postprocess_v1", "last_option_postprocess")
    },
    **{key: {"re_pattern": "x(.)"} for key in ("think_pred", "think_pred_postprocess")},
    **{key: {"tag": "<a>"} for key in ("specific-xml-tag", "xml_tag_postprocessor")},
    "LLM4Mat_postprocessor": {"property": "x"},
    "match_answer_pattern": {"answer_pattern": "x(.)"},
    "mathbench_postprocess": {"name": "cloze_en"},
    "mgsm_postprocess": {"lang": "en"},
    **{name: {"lang_code": "en"} for name in text_function_table().of(OPENCOMPASS) if name.startswith("pmmeval")},
    **{
        name: {"lang_fullname": "English"}
        for name in text_function_table().of(OPENCOMPASS)
        if name.startswith("pmmeval_flores")
    },
}
TEXT = "So #### 5. The answer is A."
ROW = {"choices": ["x", "y"]}
LEFT_OUT = ("custom", "likeliest_choice")
"""Code of a task, and what reads probabilities: test_written_choices.py."""
FUNCTIONS = [pytest.param(entry, id=entry.key) for entry in text_function_table() if entry.name not in LEFT_OUT]


def read(function):
    """Return what a function makes of the example, or that it needs a package that is not here."""
    try:
        return function()
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("entry", FUNCTIONS)
def test_every_text_function_from_every_dialect(entry):
    arguments = OF_TEXT.get(entry.name, {})
    in_task = read(lambda: make_filter({"function": entry.key, **arguments}).filtered([[TEXT]], [ROW])[0])
    one = in_task[0] if isinstance(in_task, list) and len(in_task) == 1 else in_task
    if entry.system != "aisbench":
        assert read(lambda: postprocessor({"type": entry.key, **arguments})(TEXT, ROW)) == one
    if entry.scope == "column" and entry.name != "decontaminate":
        with pytest.raises(ScoringError, match="all questions at once"):
            fetch_processor(entry.key)
        return
    source = {"__type__": "registered_processor", "function": entry.key, "arguments": arguments}
    step = {"__type__": "post_process", "operator": source, "process_references": False}
    columns = Columns([TEXT], [["A"]], [ROW])
    found = grade(columns, ["lm_eval:bypass"], [step])
    assert found.processed_predictions[0] == one
    assert found.processed_references[0] == ["A"]


@pytest.mark.parametrize(
    "name, text, wanted",
    [
        ("processors.lower_case", "AB", "ab"),
        ("processors.first_character", "AB", "A"),
        ("processors.to_string", 5, "5"),
    ],
)
def test_a_catalog_processor_from_every_dialect(name, text, wanted):
    assert make_filter({"function": name}).filtered([[text]], [{}]) == [[wanted]]
    assert postprocessor({"type": name})(text) == wanted
    assert postprocessor({"type": name})([text, text]) == [wanted, wanted]


def test_repeats_are_voted_on_in_configs():
    assert postprocessor({"type": "majority_vote"})(["a", "b", "b"]) == "b"
    assert postprocessor({"type": "take_first"})(["a", "b"]) == "a"


def test_a_filter_is_a_processor_of_a_recipe():
    columns = Columns(["it is (B)", "it is (C)"], [["B"], ["B"]], [{}, {}])
    found = grade(columns, ["metrics.accuracy"], ["first_option_postprocess[options=ABCD]"])
    assert list(found.processed_predictions) == ["B", "C"]
    assert found.scores["score"] == 0.5


def test_an_unknown_text_function_has_neighbours_of_all_tables():
    with pytest.raises(ScoringError, match="no filter 'processors_lower_case'(.|\n)*'processors.lower_case'"):
        make_filter({"function": "processors_lower_case"})
    with pytest.raises(ScoringError, match="'majority_vot' is not known(.|\n)*'majority_vote'"):
        postprocessor({"type": "majority_vot"})
    with pytest.raises(ScoringError, match="no text function 'takefirst'(.|\n)*'take_first'"):
        fetch_processor("takefirst")


# -- judges -------------------------------------------------------------------------------------------------------

JUDGE = "metrics.llm_as_judge.direct.rits.llama3_3_70b"
ASKED = {
    "inference_engine": {"__type__": "scripted_engine", "rules": [[".*Go away.*", "No"]], "answer": "Yes"},
    "criteria": {
        "__type__": "criteria_with_options",
        "name": "politeness",
        "description": "Is the answer polite?",
        "options": [
            {"__type__": "criteria_option", "name": "Yes", "description": "It is."},
            {"__type__": "criteria_option", "name": "No", "description": "It is not."},
        ],
        "option_map": {"Yes": 1.0, "No": 0.0},
    },
    "context_fields": ["question"],
}
SAID = ["Six o'clock, madam.", "Go away!"]
QUESTIONS = [{"question": "How late is it?"}, {"question": "Where is the station?"}]


def test_a_judge_in_a_config():
    config = {"type": JUDGE, **ASKED}
    assert not list(check_evaluator(config))
    found = evaluate({"evaluator": config}, SAID, ["", ""], QUESTIONS)
    assert found.main == "politeness"
    assert found.scores["politeness"] == 0.5
    assert found.instance_scores["politeness"] == [1.0, 0.0]


def test_a_judge_in_a_task(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    task = {
        "task": "polite",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(rows)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "",
        "metric_list": [{"metric": JUDGE, **ASKED}, {"metric": "metrics.accuracy"}, {"metric": "exact_match"}],
        "filter_list": [
            {"name": "lower", "filter": [{"function": "processors.lower_case"}, {"function": "take_first"}]}
        ],
    }
    file = tmp_path / "polite.yaml"
    file.write_text(json.dumps(task))
    exams = resolve_task(str(file), ExamOptions())
    engine = ScriptedEngine(answers={"How late is it?": SAID[0], "Where is the station?": "Go away!"})
    (found,) = run_exams(exams, engine).results.values()
    assert found["politeness,lower"] == 1.0
