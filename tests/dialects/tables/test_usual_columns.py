"""Tables in the layouts of the datasets that are asked most: nobody has to name their columns."""

import csv
import json
from pathlib import Path

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.tables.usual_columns import example_column, final_answer, final_of, usual, usual_choices
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams

LAYOUTS = {
    "arc": (
        {"id": "1", "question": "Q?", "choices": {"text": ["a", "b"], "label": ["1", "2"]}, "answerKey": "2"},
        ("Q?\nA. a\nB. b\nAnswer:", 1),
    ),
    "openbookqa": (
        {"question_stem": "Q?", "choices": {"text": ["a", "b"], "label": ["A", "B"]}, "answerKey": "A"},
        ("Q?\nA. a\nB. b\nAnswer:", 0),
    ),
    "hellaswag": (
        {
            "ind": 1,
            "activity_label": "Sport",
            "ctx_a": "x",
            "ctx_b": "",
            "ctx": "They run",
            "endings": ["a", "b"],
            "label": "1",
        },
        ("They run\nA. a\nB. b\nAnswer:", 1),
    ),
    "piqa": (
        {"goal": "Open it", "sol1": "pull", "sol2": "push", "label": 1},
        ("Open it\nA. pull\nB. push\nAnswer:", 1),
    ),
    "winogrande": (
        {"sentence": "The _ is big.", "option1": "cup", "option2": "car", "answer": "2"},
        ("The _ is big.\nA. cup\nB. car\nAnswer:", 1),
    ),
    "social-iqa": (
        {"context": "c", "question": "Why?", "answerA": "a", "answerB": "b", "answerC": "d", "label": "3"},
        ("Why?\nA. a\nB. b\nC. d\nAnswer:", 2),
    ),
    "medmcqa": (
        {"question": "Q?", "opa": "a", "opb": "b", "opc": "c", "opd": "d", "cop": 3},
        ("Q?\nA. a\nB. b\nC. c\nD. d\nAnswer:", 3),
    ),
    "aqua": ({"question": "Q?", "options": ["A)1", "B)2"], "correct": "B"}, ("Q?\nA. A)1\nB. B)2\nAnswer:", 1)),
    "gpqa": ({"Question": "Q?", "Correct Answer": "yes", "Incorrect Answer 1": "no"}, ("Q?", ["yes"])),
    "squad": (
        {"context": "c", "question": "Q?", "answers": {"text": ["a", "b"], "answer_start": [1, 2]}},
        ("Q?", ["a", "b"]),
    ),
    "triviaqa": ({"question": "Q?", "answer": {"value": "a", "aliases": ["a", "b"]}}, ("Q?", ["a", "b"])),
    "drop": ({"passage": "p", "question": "Q?", "answers_spans": {"spans": ["3"], "types": ["number"]}}, ("Q?", ["3"])),
    "truthfulqa": ({"question": "Q?", "best_answer": "a", "correct_answers": ["a", "b"]}, ("Q?", ["a", "b"])),
    "gsm8k": ({"question": "Q?", "answer": "3 + 4 = <<3+4=7>>7\n#### 7"}, ("Q?", ["7"])),
    "math": ({"problem": "Q?", "level": "5", "solution": r"So $x = \boxed{\frac{1}{2}}$."}, ("Q?", [r"\frac{1}{2}"])),
    "boolq": ({"question": "is it", "passage": "p", "answer": True}, ("is it", ["True", "yes"])),
    "ag-news": ({"text": "Shares fell", "label": "Business"}, ("Shares fell", ["Business"])),
}


def written(folder: Path, *rows: dict) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def other(row: dict) -> dict:
    """A second row, whose answer counts choices from 1 where the first could count from 0 or 1."""
    return {**row, "label": "1"} if "answerA" in row else {**row, "answer": "1"} if "option1" in row else row


def rows_of(name: str) -> list[dict]:
    row, _ = LAYOUTS[name]
    if name in ("piqa", "medmcqa", "hellaswag"):  # a row with 0 says where they count from
        return [row, {**row, ("cop" if "cop" in row else "label"): 0 if isinstance(row.get("label", 0), int) else "0"}]
    return [row, other(row)]


@pytest.mark.parametrize("name", [name for name, (_, (_, right)) in LAYOUTS.items() if isinstance(right, int)])
def test_the_right_choice_stays_right_in_another_order_however_the_layout_says_it(tmp_path, name):
    path, right = written(tmp_path, *rows_of(name)), []
    for order in (0, 1):
        (exam,) = resolve_tasks([path], ExamOptions(choice_order=order))
        question = next(iter(exam.questions()))
        assert question.failure is None
        lines = question.requests[0].pairs[0].context.text.splitlines()
        (line,) = (each for each in lines if each.startswith("ABCD"[question.exchange.gold] + ". "))
        right.append((question.exchange.gold, line[3:]))
    assert right[0][1] == right[1][1]
    assert len(exam.parts.choices) > 2 or right[0][0] != right[1][0]


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layouts_of_well_known_datasets_are_asked_as_they_are(tmp_path, name):
    _, (asked, right) = LAYOUTS[name]
    (exam,) = resolve_tasks([written(tmp_path, *rows_of(name))])
    question = next(iter(exam.questions()))
    assert question.failure is None
    prompt = str(getattr(question.requests[0], "prompt", None) or question.requests[0].pairs[0].context).strip()
    assert asked in prompt.replace("\\n", "\n").replace("\\\\", "\\")
    assert (question.exchange.gold if isinstance(right, int) else list(question.exchange.references)) == right


def test_alternatives_that_are_all_right_are_no_choices():
    assert usual_choices(["question", "answer1", "answer2"]) == ()
    assert usual_choices(["question", "option1"]) == ()
    assert usual_choices(["q", "choice_a", "choice_b", "choice_d"]) == ("choice_a", "choice_b")
    assert usual_choices(["q", "Option 1", "Option 2", "Option 3"]) == ("Option 1", "Option 2", "Option 3")
    assert usual_choices(["q", "ending0", "ending1", "sol1", "sol2", "sol3"]) == ("sol1", "sol2", "sol3")


def test_names_are_found_in_any_case_with_blanks_and_hyphens():
    assert usual(["Correct Answer"], ["correct_answer"]) == "Correct Answer"
    assert usual([" ground-truth "], ["ground_truth"]) == " ground-truth "


@pytest.mark.parametrize(
    "cell, mark, found",
    [
        ("#### 5", "####", "5"),
        ("#### 5\n", "####", "5"),
        ("#### 1 #### 2", "####", "1 #### 2"),
        ("####", "####", None),
        ("#### 5\nmore", "####", None),
        (7, "####", None),
        (r"\boxed{1} then \boxed{ 2 }", r"\boxed", "2"),
        (r"\fbox{x_{1}}", r"\boxed", "x_{1}"),
        (r"\boxed{open", r"\boxed", None),
        (r"\boxed{}", r"\boxed", None),
        ("no box", r"\boxed", None),
    ],
)
def test_the_end_of_a_solution(cell, mark, found):
    assert final_answer(cell, mark) == found


def test_only_tables_whose_answers_all_are_solutions_are_read_so(tmp_path):
    rows = [{"question": "a", "answer": "x\n#### 1"}, {"question": "b", "answer": "2"}]
    assert final_of(rows, "answer") is None
    (exam,) = resolve_tasks([written(tmp_path, *rows)])
    assert [each.exchange.references for each in exam.questions()] == [("x\n#### 1",), ("2",)]
    named = ExamOptions(answer_column="answer")
    (exam,) = resolve_tasks([written(tmp_path, rows[0])], named)  # who names the column means all of it
    assert [each.exchange.references for each in exam.questions()] == [("x\n#### 1",)]


def test_numbers_that_end_solutions_are_compared_as_numbers(tmp_path, heard):
    path = written(tmp_path, {"question": "a", "answer": "x\n#### 1,200"})
    resolve_tasks([path])
    assert "the last number of an answer counts (--metric number)" in heard.text
    assert "behind #### of 'answer'" in heard.text
    heard.clear()
    resolve_tasks([path], ExamOptions(metric=("exact",)))
    assert "last number" not in heard.text
    resolve_tasks([written(tmp_path, {"question": "a", "answer": "x\n#### 12 apples"})])
    assert "last number" in heard.text
    heard.clear()
    for other in ("blue", "5 or 6", "1/2", "3x"):
        resolve_tasks([written(tmp_path, {"question": "a", "answer": f"x\n#### {other}"})])
    assert "last number" not in heard.text


@pytest.mark.parametrize("right", [r"\frac{1}{2}", r"3\sqrt{13}", r"5\pi", "5 pi", "x = 5", "[1, 2)", "1,2", "2^{3}"])
def test_a_formula_is_not_its_last_number(tmp_path, heard, right):
    resolve_tasks([written(tmp_path, {"problem": "a", "solution": rf"so $\boxed{{{right}}}$"})])
    assert "last number" not in heard.text


@pytest.mark.parametrize("right", ["5", "-1,200.5", "$5", "5 %", "\u22123"])
def test_a_number_in_a_box_is_compared_as_one(tmp_path, heard, right):
    resolve_tasks([written(tmp_path, {"problem": "a", "solution": rf"so $\boxed{{{right}}}$"})])
    assert "last number" in heard.text


def test_demos_show_whole_solutions(tmp_path):
    rows = [{"question": f"{n}?", "answer": f"It is {n}.\n#### {n}"} for n in (1, 2)]
    (exam,) = resolve_tasks([written(tmp_path, *rows)], ExamOptions(num_demos=1))
    question = next(iter(exam.questions()))
    assert "It is 2.\n#### 2" in question.requests[0].prompt.text
    assert question.exchange.references == ("1",)


def test_classes_that_the_question_does_not_name_are_told_of(tmp_path, heard):
    rows = [{"text": f"story {n}", "label": ("good", "bad")[n % 2]} for n in range(20)]
    resolve_tasks([written(tmp_path, *rows)])
    assert (
        r"'label' is one of 2, which the model is not told; to tell it, --prompt $'{text}\n\nbad or good?'"
        in heard.text
    )
    heard.clear()
    resolve_tasks([written(tmp_path, *rows[:19])])  # too few rows to know
    resolve_tasks([written(tmp_path, *rows)], ExamOptions(prompt=("{text}: good or bad?",)))
    resolve_tasks([written(tmp_path, *({**row, "text": f"Is it good? {row['text']}"} for row in rows))])
    assert "is not told" not in heard.text


def test_a_word_that_is_in_a_text_by_chance_names_no_class_and_one_prompt_shows_all(tmp_path, heard):
    rows = [{"passage": "p", "question": f"Is it {n}?", "answer": ("no", "yes")[n % 2]} for n in range(20)]
    rows[3]["question"] = "Is no news good news?"
    resolve_tasks([written(tmp_path, *rows)])
    assert r"--prompt $'{passage}\n\n{question}\n\nno or yes?'" in heard.text


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_datasets_that_pandas_wrote_to_a_table_are_read_as_what_they_are(tmp_path, ending):
    squad = (
        "{'text': array(['Paris', \"it's Paris\"],\n      dtype=object), 'answer_start': array([1, 2], dtype=int32)}"
    )
    arc = "{'text': array(['red, or', 'blue'], dtype=object), 'label': array(['A', 'B'], dtype=object)}"
    for cell, wanted in ((squad, ("Paris", "it's Paris")), ("{'text': ['Paris', 'X']}", ("Paris", "X"))):
        assert _asked(tmp_path, ending, {"question": "q", "answers": cell}).exchange.references == wanted
    for cell in (arc, "['red, or'\n 'blue']"):
        found = _asked(tmp_path, ending, {"question": "q", "choices": cell, "answer": "B"})
        assert "A. red, or\nB. blue" in found.requests[0].pairs[0].context.text
    program = "{'a': [1, 2]}"
    assert _asked(tmp_path, ending, {"question": "q", "answer": program}).exchange.references == (program,)


def _asked(folder, ending, row):
    path = folder / f"{len(list(folder.iterdir()))}{ending}"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, row, delimiter="\t" if ending == ".tsv" else ",")
        table.writeheader()
        table.writerow(row)
    (exam,) = resolve_tasks([str(path)])
    return next(iter(exam.questions()))


def test_what_only_people_know_comes_before_a_models_answer(tmp_path, heard):
    row = {"question": "q", "answer": "a model's", "reference_contexts": ["c"], "ground_truths": ["x", "y"]}
    (exam,) = resolve_tasks([written(tmp_path, row)])
    assert next(iter(exam.questions())).exchange.references == ("x", "y")
    assert "not shown 'reference_contexts'" in heard.text


def test_a_picture_beside_the_name_of_its_file_is_shown(tmp_path, heard):
    row = {"question": "q", "image": "images/1.jpg", "decoded_image": "data:image/png;base64,AAAA", "answer": "B"}
    (exam,) = resolve_tasks([written(tmp_path, row)])
    assert "shows 'decoded_image'" in heard.text
    assert "AAAA" in str(next(iter(exam.questions())).requests[0].prompt.messages)


def test_an_unanswerable_question_fails_alone(tmp_path):
    rows = [{"question": f"{n}?", "answers": {"text": ["x"] * n}} for n in (1, 0)]
    (exam,) = resolve_tasks([written(tmp_path, *rows)])
    good, bad = exam.questions()
    assert good.exchange.references == ("x",)
    assert "'answers.text' lists no right answer" in bad.failure.message


def test_the_example_of_a_hint_is_a_column_that_somebody_would_ask(tmp_path):
    row = {"question_id": "a-very-long-identifier-of-a-row", "turns": 3, "body": "a text"}
    with pytest.raises(ProctorError, match=r"Answer in a word: \{body\}"):
        resolve_tasks([written(tmp_path, row)])
    nested = {"id": "7", "translation": {"en": "a word", "ro": "un cuvant"}}
    assert example_column(nested, ["id", "translation", "translation.en", "translation.ro"]) == "translation.ro"
    assert example_column({"id": 1, "n": 2}, ["id", "n"]) == "id"


def test_numbers_of_classes_are_their_names_where_parquet_says_them(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    features = {"label": {"names": ["negative", "positive"], "_type": "ClassLabel"}, "n": {"_type": "Value"}}
    columns = {"sentence": ["fine", "poor", "new"], "label": [1, 0, -1], "n": [0, 1, 1]}
    told = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    for said, labels in (
        (told, ["positive", "negative", "the column 'label'"]),
        ({b"huggingface": b"{"}, ["1", "0", "-1"]),
    ):
        parquet.write_table(pyarrow.table(columns).replace_schema_metadata(said), tmp_path / "rows.parquet")
        (exam,) = resolve_tasks([str(tmp_path / "rows.parquet")])
        found = [each.failure.message if each.failure else each.exchange.references[0] for each in exam.questions()]
        assert [each.partition(" is empty")[0] for each in found] == labels


@pytest.mark.parametrize(
    "row, asked, right",
    [
        ({"question": "Q?", "answer": "a model's", "contexts": ["c"], "ground_truth": "right"}, "Q?", "right"),
        ({"user_input": "Q?", "response": "a model's", "reference": "right"}, "Q?", "right"),
        ({"input": "Q?", "output": "a model's", "expected_output": "right"}, "Q?", "right"),
        ({"question": "Q?", "answer": "right", "reference": "a book, page 7"}, "Q?", "right"),
        ({"问题": "Q?", "答案": "right"}, "Q?", "right"),
        ({"题目": "Q?", "参考答案": "right"}, "Q?", "right"),
    ],
)
def test_what_can_only_be_right_is_what_answers_are_compared_with(tmp_path, row, asked, right):
    (exam,) = resolve_tasks([written(tmp_path, row)])
    (question,) = exam.questions()
    assert (question.requests[0].prompt.text, question.exchange.references) == (asked, (right,))


def test_choices_of_chinese_tables_are_found(tmp_path):
    row = {"题目": "Q?", "选项A": "a", "选项B": "b", "答案": "B"}
    (exam,) = resolve_tasks([written(tmp_path, row)])
    (question,) = exam.questions()
    assert question.exchange.gold == 1


def test_instructions_of_ifeval_are_checked(tmp_path, heard):
    rows = [
        {"prompt": "No commas.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{"num_words": None}]},
        {
            "prompt": "Ten words.",
            "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
            "kwargs": [{"relation": "at least", "num_words": 10, "keyword": None}, None],
        },
    ]
    (exam,) = resolve_tasks([written(tmp_path, *rows)])
    assert "the instructions in 'instruction_id_list' are checked (--metric IFEvaluator)" in heard.text
    result = run_exams([exam], ScriptedEngine(answer="four words without commas"), log=tmp_path / "log.db")
    found = result.results["rows"]
    assert found["Prompt-level-strict-accuracy"] == 50.0
    assert found["Inst-level-strict-accuracy"] == pytest.approx(200 / 3)
