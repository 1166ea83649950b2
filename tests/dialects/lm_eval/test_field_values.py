"""What templates wrap has a type and a place; what is not there is named."""

import json

import pytest

from proctor.dialects.lm_eval.factory import TemplateFactory
from proctor.dialects.lm_eval.resolve import resolve
from proctor.dialects.lm_eval.template import MCQTemplateConfig, process_field
from proctor.errors import ProctorError, TemplateError, TrustError
from proctor.settings import settings

ROW = {"question": "Q?", "choices": {"text": ["a", "b"], "label": ["A", "B"]}, "flat": ["a", "b"], "answer": 1}


def test_a_template_that_writes_a_list_gives_its_items():
    template = MCQTemplateConfig()
    spec = "['{{flat[0]}}', '{{flat[1]}}', 'c']"
    assert template.wrap_doc_to_text("{{question}}", spec)(ROW) == "Q?\nA. a\nB. b\nC. c\nAnswer:"
    assert template.wrap_doc_to_choice(spec)(ROW) == ["A", "B", "C"]
    assert template.wrap_doc_to_text("question", "['no', 'yes']")(ROW) == "Q?\nA. no\nB. yes\nAnswer:"


def test_text_that_can_be_no_column_is_meant_literally():
    template = MCQTemplateConfig()
    assert template.wrap_doc_to_text("Is it so?", ["yes", "no"])(ROW).startswith("Is it so?\n")
    assert template.wrap_doc_to_target("no", ["yes", "no"])(ROW) == 1
    assert template.wrap_doc_to_target("1", ["yes", "no"])(ROW) == 1


@pytest.mark.parametrize(
    "text, choices, what, hint",
    [
        ("qestion", "flat", "doc_to_text is 'qestion', and the document has no such column", "'question'"),
        ("question", "flt", "doc_to_choice is 'flt'", "'flat'"),
        ("question", "choices.text", "doc_to_choice is 'choices.text'", "{{choices.text}}"),
        ("{{flat}}", "flat", "doc_to_text gives list", "one question"),
        ("{{none}}", "flat", "doc_to_text gives NoneType", "one question"),
        ("question", "{{choices}}", "doc_to_choice gives dict", "{{choices.text}} or {{choices.label}}"),
        ("question", "{{letters}}", "doc_to_choice gives dict", "{{letters.values() | list}}"),
        ("question", "{{question}}", "doc_to_choice gives str 'Q?'", "list of texts"),
        ("question", "{{answer}}", "doc_to_choice gives int 1", "list of texts"),
    ],
)
def test_what_is_missing_or_of_another_type_is_named(text, choices, what, hint):
    row = {**ROW, "none": None, "letters": {"A": "a", "B": "b"}}
    with pytest.raises(TemplateError) as raised:
        MCQTemplateConfig().wrap_doc_to_text(text, choices)(row)
    (problem,) = raised.value.diagnostics
    assert problem.what.startswith(what)
    assert hint in problem.hint


def test_a_mistyped_answer_is_named_unless_it_is_a_choice():
    template = MCQTemplateConfig()
    with pytest.raises(TemplateError, match="doc_to_target is 'answr'") as raised:
        template.wrap_doc_to_target("answr", "flat")(ROW)
    assert "'answer'" in raised.value.diagnostics[0].hint
    with pytest.raises(TemplateError, match="doc_to_target is 'answr'"):
        TemplateFactory.from_dict({"template_type": "generate::question"}).wrap_doc_to_target("answr")(ROW)
    assert template.wrap_doc_to_target("b", "flat")(ROW) == 1


def test_every_problem_of_a_template_at_once():
    with pytest.raises(TemplateError) as raised:
        TemplateFactory.from_dict(
            {"template_type": "mcq", "sufix": "x", "prefix": 3, "choice_labels": "ABCD", "choice_format": "{lable}"}
        )
    found = [each.what for each in raised.value.diagnostics]
    assert found == [
        "the template 'mcq' has no field 'sufix'",
        "'prefix' of the template 'mcq' is 3",
        "'choice_labels' of the template 'mcq' is 'ABCD'",
        "the choice format '{lable}' cannot be used",
    ]


def test_what_is_left_empty_in_yaml_is_empty_text():
    made = TemplateFactory.from_dict({"format": "mmlu", "prefix": None, "suffix": None, "choice_labels": None})
    assert made.format_prompt("Q", ["a"]) == "Q\nA. a"


# -- tasks ------------------------------------------------------------------------------------------------------------

TASK = """
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: multiple_choice
"""
FIELDS = "doc_to_text: question\ndoc_to_choice: flat\ndoc_to_target: answer\n"


@pytest.fixture
def task(tmp_path):
    def make(text, rows=(ROW, ROW)):
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
        (tmp_path / "mine.yaml").write_text(f"task: mine{TASK}{text}")
        return tmp_path / "mine.yaml"

    return make


def problems_of(path):
    (exam,) = resolve(["mine"], [str(path.parent)])
    with pytest.raises(ProctorError) as raised:
        list(exam.questions())
    return raised.value.diagnostics


def test_all_missing_columns_each_with_its_line(task):
    path = task("template: mmlu\ndoc_to_text: qestion\ndoc_to_choice: flt\ndoc_to_target: answer\n")
    found = problems_of(path)
    assert [str(each.location) for each in found] == [f"{path}:7:1", f"{path}:8:1"]
    assert [each.hint for each in found] == ["did you mean 'question'?", "did you mean 'flat'?"]


@pytest.mark.parametrize("template", ["mmlu", "cloze", "mcq", "cloze::pure"])
def test_a_template_with_nothing_to_wrap(task, template):
    first, second = problems_of(task(f"template: {template}\ndoc_to_target: answer\n"))
    assert first.what == f"the template '{template}' wraps doc_to_text, and the task 'mine' has none"
    assert second.what == f"the template '{template}' wraps doc_to_choice, and the task 'mine' has none"


def test_templates_for_questions_need_no_choices(task):
    path = task('template: question\ndoc_to_text: "{{question}}"\ndoc_to_target: "{{answer}}"\n')
    (exam,) = resolve(["mine"], [str(path.parent)])
    assert next(exam.questions()).exchange.references == ("1",)


@pytest.mark.parametrize("template", ["", "template: cloze\n"])
@pytest.mark.parametrize("choices, what", [(None, "not a list"), ([], "an empty list")])
def test_a_document_without_choices_is_named(task, template, choices, what):
    path = task(template + FIELDS, [ROW, {**ROW, "flat": choices}])
    first, second = list(resolve([str(path)])[0].questions())
    assert first.failure is None
    assert what in second.failure.message
    assert "@ mine[1] split 'test', doc_to_choice" in second.failure.message
    assert "mine.yaml:" in second.failure.message


def test_an_answer_outside_the_choices_leads_to_its_line(task):
    (exam,) = resolve([str(task(f"template: mcq\n{FIELDS}", [ROW, {**ROW, "answer": 7}]))])
    *_, last = exam.questions()
    assert "mine.yaml:9:1 @ mine[1] split 'test', doc_to_target" in last.failure.message


def test_fields_inside_a_template_serve_other_templates(task):
    path = task("template:\n  mmlu: {question: {question}, choices: {flat}, answer: {answer}}\n")
    (exam,) = resolve(["mine@cloze"], [str(path.parent)])
    item = next(exam.questions())
    assert item.exchange.choices == (" a", " b")
    assert item.exchange.gold == 1


@pytest.mark.parametrize("name", ["items", "values", "keys", "copy"])
def test_nested_columns_may_have_names_of_methods(name):
    row = {"choices": {name: ["a", "b"], "n": {name: "deep"}}}
    assert process_field(row, f"{{{{choices.{name}}}}}") == ["a", "b"]
    assert process_field(row, f"{{{{choices.n.{name}}}}}") == "deep"
    assert MCQTemplateConfig().wrap_doc_to_choice(f"{{{{choices.{name}}}}}")(row) == ["A", "B"]
    assert process_field({"c": {"A": "x", "B": "y"}}, "{{c.values() | list}}") == ["x", "y"]


def test_templates_convert_by_name():
    mcq = TemplateFactory.create_mmlu_style()
    cloze = TemplateFactory.convert_mcq_to_cloze(mcq)
    assert cloze == mcq.to_cloze()
    assert TemplateFactory.convert_cloze_to_mcq(cloze) == mcq


# -- files of rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("process", ["", "doc_to_image: question\n"])
def test_a_file_without_rows_is_a_task_without_documents(task, process):
    path = task(f"{FIELDS}{process}", [])
    (problem,) = problems_of(path)
    assert problem.what == "the exam 'mine' has no instance"
    assert str(problem.location).endswith("mine.yaml:2:1")


def test_a_file_that_is_not_there_is_named_with_its_task(task):
    path = task(FIELDS)
    (path.parent / "rows.jsonl").unlink()
    (problem,) = problems_of(path)
    assert problem.what == "the data files of a dataset 'json' cannot be read"
    assert "rows.jsonl" in problem.why
    assert "also beside that file" in problem.hint
    assert str(problem.location).endswith("mine.yaml:2:1")


def test_a_split_that_is_mistyped_gets_the_closest_one(task):
    path = task(FIELDS)
    path.write_text(path.read_text().replace("test_split: test", "test_split: tets"))
    (problem,) = problems_of(path)
    assert problem.hint == "did you mean 'test'?"


# -- templates of one's own -------------------------------------------------------------------------------------------

MINE = """
class Mine:
    format = "mine"
    prefix = suffix = ""
    question_choice_delimiter = choice_delimiter = "\\n"
    target_delimiter = "\\n##\\n"

    def __init__(self, mark=">"):
        self.mark = mark

    def format_prompt(self, q, c, a):
        return f"{self.mark} {q} {len(c)} {a}"

    def format_choices(self, q, c, a):
        return [f"{q}{number}" for number, _ in enumerate(c)]

    def format_target(self, q, c, a):
        return a


class Half:
    def format_prompt(self, q, c, a):
        return q
"""


@pytest.fixture
def mine(task):
    def make(spec):
        path = task(f"template: {spec}\n{FIELDS}")
        (path.parent / "my_templates.py").write_text(MINE)
        return path

    return make


def test_a_template_beside_the_task_gets_question_choices_and_answer(mine):
    path = mine('{template_type: "my_templates:Mine", mark: "?"}')
    with settings.context(trust_code=True):
        (exam,) = resolve(["mine"], [str(path.parent)])
        item = next(exam.questions())
    assert item.requests[0].pairs[0].context.text == "? Q? 2 1"
    assert item.exchange.choices == (" Q?0", " Q?1")
    assert item.exchange.gold == 1


@pytest.mark.parametrize(
    "spec, what",
    [
        ('"my_templates:Half"', "has no format_choices and no format_target"),
        ('"my_templates:Nobody"', "cannot be loaded"),
        ('"no_such_module:Mine"', "cannot be loaded"),
        ('{template_type: "my_templates:Mine", mrk: "?"}', "cannot be made"),
    ],
)
def test_a_template_of_ones_own_that_is_none(mine, spec, what):
    path = mine(spec)
    with settings.context(trust_code=True), pytest.raises(TemplateError, match=what) as raised:
        resolve(["mine"], [str(path.parent)])
    assert str(raised.value.diagnostics[0].location).endswith("mine.yaml:6:1")


def test_without_trust_it_is_refused(mine):
    with pytest.raises(TrustError, match="is Python code"):
        resolve(["mine"], [str(mine('"my_templates:Mine"').parent)])
