"""Tables as exams: what is read, what is asked, what is refused."""

import codecs
import csv
import gzip
import io
import json
import random
import sys
from datetime import datetime

import pytest
from tests_commands import proctor

from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.tables.reader import is_table, name_of, read_table, separator_of
from proctor.dialects.tables.resolve import _BESIDE
from proctor.dialects.tables.validate import validate
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import DataError, MissingExtraError, ProctorError, UsageError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams


def exam_of(path, **options):
    (exam,) = resolve_tasks([str(path)], ExamOptions(**options))
    return exam


def prompts(exam):
    return [question.requests[0].prompt.text for question in exam.questions()]


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


CITIES = "country,city\nFrance,Paris\nJapan,Tokyo\nChile,Santiago\n"
NAMED = {"input_column": "country", "answer_column": "city"}


def test_columns_are_named_and_answers_scored(tmp_path):
    exam = exam_of(written(tmp_path, "cities.csv", CITIES), **NAMED)
    assert prompts(exam) == ["France", "Japan", "Chile"]
    engine = ScriptedEngine(answers={"France": " paris.", "Japan": "Kyoto", "Chile": "Santiago"})
    (found,) = run_exams([exam], engine, log=tmp_path / "log.db").results.values()
    assert (found["score"], found["n"]) == (pytest.approx(2 / 3), 3)


def test_a_prompt_shows_columns_in_braces_and_braces_of_its_own(tmp_path):
    path = written(tmp_path, "cities.csv", CITIES)
    exam = exam_of(path, prompt="{{x}} Capital of {country}?", answer_column="city")
    assert prompts(exam)[0] == "{x} Capital of France?"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found_out(tmp_path, separator):
    rows = [["question", "answer", "why"], ["a, b; c?", "x|y", "a\tb"], ["line\nbreak", '"quoted"', ""]]
    text = "\n".join(separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    assert separator_of(text) == separator
    found = read_table(str(written(tmp_path, f"rows{ord(separator)}.csv", text)))
    assert [list(row.values()) for row in found] == rows[1:]


@pytest.mark.parametrize("encoding", ["gbk", "gb18030"])
def test_tables_of_chinese_programs_are_read_and_said_to_be_guessed(tmp_path, heard, encoding):
    text = "题干,选项A,选项B,答案\n首都是？,上海,北京,Ｂ\n河流？,长江,黄河,A、\n"
    (exam,) = resolve_tasks([str(written(tmp_path, "题.csv", text.encode(encoding)))])
    assert "read as GB18030" in heard.text
    assert [each.exchange.gold for each in exam.questions()] == [1, 0]


def test_a_header_with_other_commas_is_refused(tmp_path):
    with pytest.raises(DataError, match="(?s)one column, '问题，答案'.*write , between cells"):
        read_table(str(written(tmp_path, "full.csv", "问题，答案\na，b\n")))


def test_choices_in_one_cell_are_told_apart_by_their_letters(tmp_path):
    text = "question,choices,answer\nQ?,A.red B. blue,B\nR?,甲；乙,A\n"
    (exam,) = resolve_tasks([str(written(tmp_path, "rows.csv", text))])
    shown = [each.requests[0].pairs[0].context.text for each in exam.questions()]
    assert shown == ["Q?\nA. red\nB. blue\nAnswer:", "R?\nA. 甲\nB. 乙\nAnswer:"]


def test_several_right_choices_are_asked_as_the_message_says(tmp_path):
    path = str(written(tmp_path, "rows.csv", "question,A,B,answer\nQ?,x,y,AB\nR?,x,y,B\n"))
    (exam,) = resolve_tasks([path])
    assert "--choices-column '' and --prompt" in next(iter(exam.questions())).failure.message
    (exam,) = resolve_tasks([path], ExamOptions(choices_column="", prompt=("{question} A {A} B {B}",)))
    assert [each.requests[0].prompt.text for each in exam.questions()] == ["Q? A x B y", "R? A x B y"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_found_out(tmp_path, encoding, capsys):
    path = written(tmp_path, "rows.csv", "Frage;Antwort\nGrüße?;hübsch\n".encode(encoding))
    assert read_table(str(path)) == [{"Frage": "Grüße?", "Antwort": "hübsch"}]
    exam = exam_of(path, input_column="Frage", answer_column="Antwort")
    assert prompts(exam) == ["Grüße?"]


def test_a_file_that_is_not_utf8_is_said_to_be_guessed(tmp_path, heard):
    read_table(str(written(tmp_path, "latin.csv", "q,a\nGrüße,x\n".encode("cp1252"))))
    assert "read as Windows-1252" in heard.text


def test_cells_stay_texts_and_lines_without_anything_are_left_out(tmp_path):
    path = written(tmp_path, "rows.csv", "code,answer\n007,1.50\n\n,\nNaN,NULL\n")
    assert read_table(str(path)) == [{"code": "007", "answer": "1.50"}, {"code": "NaN", "answer": "NULL"}]


def test_json_lines_and_parquet_are_tables_too(tmp_path):
    from pyarrow import Table, parquet

    rows = [{"q": "1+1", "a": 2, "more": ["2", "two"]}, {"q": "1+2", "a": 3, "more": ["3"]}]
    lines = written(tmp_path, "rows.jsonl", "\n".join(map(json.dumps, rows)))
    parquet.write_table(Table.from_pylist(rows), tmp_path / "rows.parquet")
    for path in (lines, tmp_path / "rows.parquet"):
        exam = exam_of(path, input_column="q", answer_column="a")
        assert [each.exchange.answer for each in exam.questions()] == ["2", "3"]
        several = exam_of(path, input_column="q", answer_column="more")
        assert [each.exchange.references for each in several.questions()] == [("2", "two"), ("3",)]


@pytest.mark.parametrize(
    "rows, columns",
    [
        ("q,A,B,C,right\nx?,one,two,,B\ny?,one,two,three,C\n", None),
        ("q,choices,right\nx?,one|two,two\ny?,one|two|three,three\n", None),
        ("q,c,right\nx?,\"['one', 'two']\",1\ny?,\"['one', 'two', 'three']\",2\nz?,\"['a', 'b']\",0\n", "c"),
        ("q,first,second,third,right\nx?,one,two,,2\ny?,one,two,three,3\n", "first,second,third"),
    ],
)
def test_choices_come_as_a_list_a_text_or_columns(tmp_path, rows, columns):
    path = written(tmp_path, "rows.csv", rows)
    exam = exam_of(path, input_column="q", answer_column="right", choices_column=columns)
    first, second = list(exam.questions())[:2]
    assert first.requests[0].pairs[0].context.text == "x?\nA. one\nB. two\nAnswer:"
    assert (first.exchange.gold, second.exchange.gold) == (1, 2)
    assert [pair.continuation for pair in second.requests[0].pairs] == [" A", " B", " C"]


def test_numbers_that_could_count_from_nought_or_one_are_refused(tmp_path):
    path = written(tmp_path, "rows.csv", "q,choices,right\nx?,one|two|three,1\ny?,one|two|three,2\n")
    with pytest.raises(UsageError, match="from 0 or from 1"):
        exam_of(path, input_column="q", answer_column="right")


def test_choices_are_asked_as_text_where_a_model_only_writes(tmp_path):
    path = written(tmp_path, "rows.csv", "q,choices,right\nx?,one|two,two\n")
    exam = exam_of(path, input_column="q", answer_column="right")
    (found,) = run_exams([exam], ScriptedEngine(answer="B"), log=tmp_path / "log.db").results.values()
    assert found["score"] == 1.0


def test_demos_come_from_the_other_rows(tmp_path):
    exam = exam_of(written(tmp_path, "cities.csv", CITIES), **NAMED, num_demos=2)
    for text, own in zip(prompts(exam), ("France", "Japan", "Chile"), strict=True):
        assert text.endswith(own)
        assert text.count(own) == 1
        assert text.count("\n\n") == 2


@pytest.mark.parametrize(
    "options, message, hint",
    [
        ({"input_column": "contry"}, "--input-column names 'contry'", "did you mean 'country'"),
        ({**NAMED, "choices_column": "x,y"}, "--choices-column names 'x'", ""),
        ({"prompt": "{Country}?", "answer_column": "city"}, "--prompt names 'Country'", "did you mean 'country'"),
        ({**NAMED, "prompt": "{country}?"}, "both say what is asked", "name the column in the prompt"),
        ({"prompt": "{country", "answer_column": "city"}, "a brace", "{{ is a brace"),
        ({"input_column": "country"}, "nothing says which column of the table is right", "--answer-column NAME"),
        ({}, "nothing says which column of the table is asked", "--input-column NAME"),
    ],
)
def test_what_is_not_there_is_refused_with_what_there_is(tmp_path, options, message, hint):
    path = written(tmp_path, "cities.csv", CITIES)
    with pytest.raises(UsageError) as raised:
        exam_of(path, **options)
    (problem,) = raised.value.diagnostics
    assert message in problem.what
    assert hint in problem.hint
    assert "{ is" in problem.hint or "in the prompt" in problem.hint or "'country', 'city'" in problem.why


@pytest.mark.parametrize(
    "content, message",
    [
        ("a,b,a\n1,2,3\n", "2 columns 'a'"),
        ("a,b\n1,2,3\n4,5\n6,7\n", "a row has 3 cells"),
        ("", "the file is empty"),
        ("a,b\n", "no rows"),
        ('a,b\n"1,2\n3,4\n', "not valid CSV"),
        (b"a,b\n\0,1\n", "not text"),
    ],
)
def test_what_is_not_a_table_is_refused_with_its_place(tmp_path, content, message):
    with pytest.raises(DataError, match=message) as raised:
        read_table(str(written(tmp_path, "rows.csv", content)))
    assert raised.value.diagnostics[0].location is not None


def test_an_empty_cell_fails_its_row_and_not_the_exam(tmp_path):
    exam = exam_of(
        written(tmp_path, "rows.csv", "q,a,x\none,1,y\n,2,y\nthree,,y\n"), input_column="q", answer_column="a"
    )
    (found,) = run_exams([exam], ScriptedEngine(answer="1"), log=tmp_path / "log.db").results.values()
    assert (found["score"], found["n"], found["failures"]) == (1.0, 3, 2)


@pytest.mark.parametrize("name, content", [
    ("rows.csv", "question,answer\n1+1,2\n"),
    ("rows.csv", "question;answer\n1+1;2\n"),
    ("rows.tsv", "question\tanswer\n1+1\t2\n"),
    ("rows.jsonl", '{"question": "1+1", "answer": 2}\n'),
    ("rows.json", '\ufeff [{"question": "1+1", "answer": 2}]\n'),
])  # fmt: skip
def test_one_rule_holds_for_tables_of_every_kind(tmp_path, name, content):
    path = written(tmp_path, name, content)
    engine = ScriptedEngine(answer="2.")
    for given in ({}, {"input_column": "question"}):
        exam = exam_of(path, **given)
        (found,) = run_exams([exam], engine, log=tmp_path / "log.db").results.values()
        assert (exam.dialect, prompts(exam), found["score"], found["unit"]) == ("lm_eval", ["1+1"], 1.0, "share")


def test_a_file_beside_a_table_makes_it_a_custom_dataset_of_opencompass(tmp_path):
    path = written(tmp_path, "rows.csv", "question,answer\n1+1,2\n")
    written(tmp_path, "rows.csv.meta.json", '{"human_prompt": "Q: {question}"}')
    assert exam_of(path).dialect == "aisbench"
    assert exam_of(path, input_column="question").dialect == "lm_eval"


SAME = [
    "Paris.",
    "paris",
    ' "Paris" ',
    "**Paris**",
    "(Paris).",
    "Paris!?",
    "« Paris »",
    "\n Paris\n",
    "“PARIS”",
    "Paris。",
]
NUMBERS = [("-5", "5"), ("1.5", "15"), ("1/2", "12"), ("C++", "C"), ("C#", "C"), ("+", "-"), ("?", "!"), ("$5", "5")]
NUMBERS += [("50%", "50"), ("2**3", "23"), ("10:30", "1030"), ("a-b", "ab"), (".5", "5"), ("x_1", "x1"), ("?", "")]


@pytest.mark.parametrize(
    "right, answer, score",
    [
        *[("Paris", each, 1.0) for each in SAME],
        *[(right, answer, 0.0) for right, answer in NUMBERS],
        *[(answer, right, 0.0) for right, answer in NUMBERS if answer],
        *[(right, right, 1.0) for right, _ in NUMBERS],
        ("1000", "1,000", 1.0),
        ("1,234,567", "1234567.", 1.0),
        ("1,5", "15", 0.0),
        ("1,2345", "12345", 0.0),
        (" Paris", "Paris", 1.0),
        ("Paris", "", 0.0),
        ("Paris", "Paris, France", 0.0),
    ],
)
def test_what_does_not_count_in_answers_is_around_them(tmp_path, right, answer, score):
    path = written(tmp_path, "rows.jsonl", json.dumps({"q": "x", "a": right}))
    exam = exam_of(path, input_column="q", answer_column="a")
    (found,) = run_exams([exam], ScriptedEngine(answer=answer), log=tmp_path / "log.db").results.values()
    assert found["score"] == score


def test_an_empty_right_answer_among_others_makes_no_empty_answer_right(tmp_path):
    path = written(tmp_path, "rows.jsonl", '{"q": "x", "a": ["Paris", null, ""]}\n{"q": "y", "a": [null]}')
    exam = exam_of(path, input_column="q", answer_column="a")
    (found,) = run_exams([exam], ScriptedEngine(answer=""), log=tmp_path / "log.db").results.values()
    assert (found["score"], found["failures"]) == (0.0, 1)


@pytest.mark.parametrize("name, content, message", [
    ("rows.jsonl", '{"q": "x", "a": "1", "q": "y"}\n', "an object has 'q' twice"),
    ("rows.jsonl", '{"q": "x", "a": "1"}\n[1]\n', "a row is list"),
    ("rows.json", '[{"q": "x", "a": "1"}, 5]', "a row is int"),
    ("rows.json", '[{"q": "x", "a": "1"}', "not JSON"),
    ("rows.json", "[]", "no rows"),
])  # fmt: skip
def test_rows_that_say_something_twice_or_nothing_are_refused(tmp_path, name, content, message):
    with pytest.raises(DataError, match=message):
        read_table(str(written(tmp_path, name, content)))


@pytest.mark.parametrize("seed", range(40))
def test_what_a_program_writes_comes_back_or_is_refused(tmp_path, seed):
    draw = random.Random(seed)
    signs = [*"ab ,;|\t\"'\n[]{}\\", "\u2028", "\x85", "\x0b", "\x1c", "é", "中", "&amp;", "007", "1,5"]
    names = [f"c{place}" for place in range(draw.randint(2, 4))]
    rows = [["".join(draw.choices(signs, k=draw.randint(0, 5))) for _ in names] for _ in range(draw.randint(1, 8))]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=draw.choice(",;\t|"), lineterminator=draw.choice(["\n", "\r\n"]))
    writer.writerows([names, *rows])
    encoding = draw.choice(["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    path = written(tmp_path, "rows.csv", text.getvalue().encode(encoding))
    wanted = [dict(zip(names, row, strict=True)) for row in rows if any(cell.strip() for cell in row)]
    try:
        found = read_table(str(path))
    except DataError:
        return
    assert found == wanted


def test_a_separator_at_the_end_of_a_line_is_no_cell(tmp_path):
    assert read_table(str(written(tmp_path, "rows.csv", "q,a\nx,1,\ny,2,,\n"))) == [
        {"q": "x", "a": "1"}, {"q": "y", "a": "2"},
    ]  # fmt: skip


def test_columns_of_one_name_in_parquet_are_refused(tmp_path):
    from pyarrow import array, parquet, table

    parquet.write_table(table([array(["x"]), array(["1"])], names=["q", "q"]), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="2 columns 'q'"):
        read_table(str(tmp_path / "rows.parquet"))


def test_texts_that_parquet_holds_as_bytes_are_texts(tmp_path):
    from pyarrow import array, binary, parquet, table

    columns = [array([b"Gr\xc3\xbc\xc3\x9fe?"], binary()), array([b"ja"], binary())]
    parquet.write_table(table(columns, names=["q", "a"]), tmp_path / "rows.parquet")
    exam = exam_of(tmp_path / "rows.parquet", input_column="q", answer_column="a")
    assert prompts(exam) == ["Grüße?"]


def test_points_in_the_name_of_a_table_are_part_of_it(tmp_path):
    exams = resolve_tasks([
        f"{written(tmp_path, name, CITIES)}[input_column=country,answer_column=city]"
        for name in ("v1.2.csv", "v1.3.csv")
    ])  # fmt: skip
    assert [each.name for each in exams] == ["v1.2", "v1.3"]


def test_a_prompt_that_shows_some_choices_is_refused(tmp_path):
    path = written(tmp_path, "rows.csv", "q,A,B,C,right\nx?,one,two,three,B\n")
    with pytest.raises(UsageError, match="shows some of the choices, and not 'C'"):
        exam_of(path, prompt="{q} A {A} B {B}", answer_column="right")


@pytest.mark.parametrize(
    "content, options, said",
    [
        ("q,a,choices\nx,A,1|2\n", {"input_column": "q", "answer_column": "a"}, "chooses between 'choices'"),
        ("q,answer\nx,1\n", {"input_column": "q"}, "compares with 'answer'"),
        ("q,a\nx,1\n", {"input_column": "q", "answer_column": "q"}, "the prompt shows 'q'"),
        ("q,a\nx,\"['b', 'c']\"\n", {"input_column": "q", "answer_column": "a"}, "list several right answers"),
    ],
)
def test_what_is_guessed_and_what_looks_wrong_is_said(tmp_path, heard, content, options, said):
    exam_of(written(tmp_path, "rows.csv", content), **options)
    assert said in heard.text


def test_what_the_user_named_is_not_said(tmp_path, heard):
    path = written(tmp_path, "rows.csv", "q,a\nx,1\n")
    exam_of(path, input_column="q", answer_column="a")
    assert heard.text == ""
    exam_of(path, prompt="{q}?", answer_column="a")
    assert "asks" not in heard.text


def test_a_text_that_its_first_bytes_do_not_tell_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(codecs.BOM_UTF16_LE + b"q\0,\0a")
    with pytest.raises(DataError, match="the file is not utf-16"):
        exam_of(path, input_column="q")
    path.write_bytes(b"q,a\n\0,1\n")
    with pytest.raises(DataError, match="zero bytes"):
        exam_of(path, input_column="q")


def test_answers_are_asked_for_greedily_and_to_their_end(tmp_path):
    exam = exam_of(written(tmp_path, "rows.csv", "q,a\nx,1\n"), input_column="q", answer_column="a")
    (question,) = exam.questions()
    decoding = question.requests[0].decoding
    assert (decoding.temperature, decoding.stop) == (0.0, ())
    assert decoding.extra.get("do_sample") in (None, False)


def test_brackets_say_the_columns_of_one_file_among_several(tmp_path):
    one, two = written(tmp_path, "one.csv", CITIES), written(tmp_path, "two.csv", CITIES)
    names = [
        f"{one}[input_column=country,answer_column=city]",
        f"{two}[prompt=Where is {{city}}?,answer_column=country]",
    ]
    first, second = resolve_tasks(names)
    assert (prompts(first)[0], prompts(second)[0]) == ("France", "Where is Paris?")
    with pytest.raises(UsageError, match="a table has no 'inputs'"):
        resolve_tasks([f"{one}[input_column=country,inputs=city]"])


def test_the_command_line_asks_and_repeats(tmp_path):
    path = written(tmp_path, "cities.csv", CITIES)
    given = ["--model", "dummy", "--model-args", "answer=Tokyo", "--tasks", str(path), "-o", str(tmp_path / "run")]
    named = [
        "--prompt",
        "Capital of {country}?",
        "--answer-column",
        "city",
        "--log",
        str(tmp_path / "log.db"),
        "--json",
    ]
    done = proctor("run", *given, *named)
    assert json.loads(done.stdout)["cities"]["score"] == pytest.approx(1 / 3), done.stderr
    again = proctor("run", tmp_path / "run", "--log", tmp_path / "log.db", "--json")
    assert json.loads(again.stdout)["cities"]["score"] == pytest.approx(1 / 3), again.stderr


def test_tables_say_no_to_what_they_have_not(tmp_path):
    with pytest.raises(ProctorError, match="cannot honour --template"):
        exam_of(written(tmp_path, "cities.csv", CITIES), **NAMED, template="mmlu")


def test_cells_with_more_than_one_value_fail_their_row(tmp_path):
    rows = '{"q": {"text": "a"}, "a": "x"}\n{"q": "b", "a": [{"text": "x"}]}\n{"q": "c", "a": []}\n{"q": "d", "a": ["x"]}\n'
    exam = exam_of(written(tmp_path, "rows.jsonl", rows), input_column="q", answer_column="a")
    failures = [question.failure and question.failure.message for question in exam.questions()]
    assert [str(each).partition(" in this row")[0] for each in failures] == [
        "the column 'q' has an object", "the column 'a' has an object", "the column 'a' lists no right answer", "None",
    ]  # fmt: skip


def test_a_prompt_that_asks_the_same_of_every_row_is_refused(tmp_path):
    path = written(tmp_path, "cities.csv", CITIES)
    with pytest.raises(UsageError, match="asks the same of every row"):
        exam_of(path, prompt="Which capital?", answer_column="city")


def test_a_file_of_another_kind_says_what_exams_are_read_from(tmp_path):
    with pytest.raises(ProctorError, match=r"rows\.ods' is not a file that holds an exam"):
        resolve_tasks([str(written(tmp_path, "rows.ods", "x"))])


def test_a_file_is_a_table_by_its_ending_and_json_by_its_beginning(tmp_path):
    for name in ("a.csv", "a.TSV", "a.jsonl", "a.ndjson", "a.parquet"):
        assert is_table(str(written(tmp_path, name, "x")))
    for name, content, is_one in (("l.json", "\ufeff \n[1]", True), ("o.json", "{}", False), ("a.txt", "[1]", False)):
        assert is_table(str(written(tmp_path, name, content))) is is_one
    (tmp_path / "folder.csv").mkdir()
    assert not is_table(str(tmp_path / "folder.csv"))
    assert not is_table(str(tmp_path / "nowhere.csv"))


def test_a_table_is_checked_by_its_columns(tmp_path):
    good = written(tmp_path, "good.csv", "question,answer\nx,1\n")
    assert validate(good) == ([good], [])
    bad = written(tmp_path, "bad.csv", "x,y\nx,1\n")
    ((path,), (problem,)) = validate(bad)
    assert (path, "nothing says which column" in str(problem)) == (bad, True)
    assert validate(written(tmp_path, "notes.txt", "x")) == ([], [])


def test_a_column_without_a_name_is_called_by_its_place(tmp_path):
    (row,) = read_table(str(written(tmp_path, "a.csv", "q,,a\nx,y,z\n")))
    assert row == {"q": "x", "column 2": "y", "a": "z"}


def test_a_problem_of_a_line_names_the_line(tmp_path):
    with pytest.raises(DataError, match="2 columns 'q'") as caught:
        read_table(str(written(tmp_path, "a.csv", "q,q\nx,y\n")))[0]
    assert caught.value.diagnostics[0].location.line == 1
    with pytest.raises(DataError, match="not an object") as caught:
        list(read_table(str(written(tmp_path, "b.jsonl", '{"a": 1}\n\n[2]\n'))))
    assert caught.value.diagnostics[0].location.line == 3
    with pytest.raises(DataError, match="this is not JSON") as caught:
        list(read_table(str(written(tmp_path, "c.jsonl", '{"a": 1}\n{"a": \n'))))
    assert caught.value.diagnostics[0].location.line == 2


def test_bytes_that_no_code_page_has_are_shown_as_unknown(tmp_path):
    (row,) = read_table(str(written(tmp_path, "a.csv", b"q,a\n\x81\xe4,1\n")))
    assert row["q"] == "\ufffdä"


def test_a_lone_column_a_is_no_choice(tmp_path):
    exam = exam_of(written(tmp_path, "rows.csv", "question,A,answer\nx?,one,two\n"))
    (question,) = exam.questions()
    assert question.exchange.choices == ()
    assert question.exchange.references == ("two",)


@pytest.mark.parametrize("text", ["a\nb\n", "", "a,b;c\n1,2;3\n", "a;b,c\n1;2,3\n"])
def test_where_nothing_tells_a_separator_it_is_a_comma(text):
    assert separator_of(text) == ","


def test_a_separator_gives_all_rows_as_many_cells():
    assert separator_of("what, who;a\n1;2\n") == ";"
    assert separator_of("what, who, when;a\n1, 2;3\n") == ";"


def test_a_document_may_be_a_cell(tmp_path):
    long = "x" * 200_000
    assert csv.field_size_limit(131_072)
    (row,) = read_table(str(written(tmp_path, "a.csv", f'q,a\n"{long}",1\n')))
    assert row["q"] == long


def test_a_name_that_an_object_has_twice_is_named(tmp_path):
    with pytest.raises(DataError, match="an object has 'b' twice"):
        list(read_table(str(written(tmp_path, "a.jsonl", '{"a": 1, "b": 2, "b": 3}\n'))))


def test_what_opencompass_says_of_a_table_is_left_where_columns_are_named(tmp_path, heard):
    path = written(tmp_path, "cities.csv", CITIES)
    (tmp_path / f"cities.csv{_BESIDE}").write_text("{}")
    assert prompts(exam_of(path, **NAMED))[0] == "France"
    assert f"cities.csv{_BESIDE} is not read" in heard.text


def test_the_first_sheet_of_a_workbook_is_a_table(tmp_path, caplog):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["question", "answer", "when"], ["1 + 6", 7.0, datetime(2026, 1, 2)], ["x", "y"], []):  # noqa: DTZ001
        book.active.append(row)
    book.create_sheet("more")
    book.save(tmp_path / "q.xlsx")
    assert read_table(str(tmp_path / "q.xlsx")) == [
        {"question": "1 + 6", "answer": "7", "when": "2026-01-02"},
        {"question": "x", "answer": "y", "when": ""},
    ]
    assert "the first sheet is read, and not 'more'" in caplog.text


def test_a_workbook_names_the_package_that_reads_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "q.xlsx").write_bytes(b"PK")
    with pytest.raises(MissingExtraError, match="openpyxl"):
        read_table(str(tmp_path / "q.xlsx"))


def test_an_instruction_is_asked_above_its_input(tmp_path, heard):
    path = written(tmp_path, "alpaca.csv", "instruction,input,output\nIn French:,cat,chat\nName a day., ,Monday\n")
    assert prompts(exam_of(path)) == ["In French:\n\ncat", "Name a day."]
    assert "asks 'instruction' above 'input' and compares with 'output'" in heard.text
    with_inputs = written(tmp_path, "inputs.csv", "instruction,input,output\nIn French:,cat,chat\n")
    assert prompts(exam_of(with_inputs, input_column="input")) == ["cat"]
    assert exam_of(path).parts.inputs == ("instruction", "input")


@pytest.mark.parametrize("options", [{}, {"input_column": "question"}, {"prompt": "{context}: {question}"}])
def test_what_a_question_is_about_and_the_model_is_not_shown_is_said(tmp_path, heard, options):
    path = written(tmp_path, "about.csv", "context,question,answers\nPaul has 3 cats.,How many?,3\n")
    exam_of(path, **options)
    told = "the model is not shown 'context'; to show it, --prompt $'{context}\\n\\n{question}'"
    assert (told in heard.text) == (not options)


ROW = {"question": "Capital of Peru?", "answer": "Lima"}


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.csv", "question,answer\nCapital of Peru?,Lima\n"),
        ("b.JSONL", json.dumps(ROW)),
        ("c.json", json.dumps([ROW])),
    ],
)
def test_tables_packed_by_gzip_are_read(tmp_path, name, text):
    path = written(tmp_path, f"{name}.gz", gzip.compress(text.encode()))
    exam = exam_of(path)
    assert (exam.name, prompts(exam)) == (name[0], ["Capital of Peru?"])


def test_a_name_that_ends_in_gz_and_a_bomb_are_refused(tmp_path):
    with pytest.raises(DataError, match="not packed by gzip"):
        exam_of(written(tmp_path, "a.csv.gz", "question,answer\nq,a\n"))
    with pytest.raises(DataError, match="not packed by gzip"):
        exam_of(written(tmp_path, "b.csv.gz", gzip.compress(b"question,answer\n" * 1000)[:-20]))
    with pytest.raises(DataError, match="times"):
        exam_of(written(tmp_path, "c.csv.gz", gzip.compress(b"question,answer\n" + b"a" * (100 << 20))))
    assert not is_table(str(written(tmp_path, "d.txt.gz", gzip.compress(b"a"))))


@pytest.mark.parametrize("key", ["data", "examples", "rows", "questions", "items", "instances"])
def test_rows_in_an_object_are_a_table(tmp_path, key):
    path = written(tmp_path, "rows.json", json.dumps({"version": "1", key: [ROW], "more": []}, indent=1))
    assert prompts(exam_of(path)) == ["Capital of Peru?"]


def test_an_object_whose_rows_lie_deeper_is_refused_with_a_reason(tmp_path):
    with pytest.raises(DataError, match="no list of rows"):
        exam_of(written(tmp_path, "rows.json", json.dumps({"meta": {"data": [ROW]}})))


@pytest.mark.parametrize(
    "value", [{"data": ["a"]}, {"data": {"a": 1}}, {"other": [ROW]}, {"__type__": "task_card", "data": [ROW]}, {}]
)
def test_other_objects_are_no_tables(tmp_path, value):
    assert not is_table(str(written(tmp_path, "rows.json", json.dumps(value))))


@pytest.mark.parametrize(
    "path, name",
    [
        ("gsm8k/main/test.parquet", "gsm8k-test"),
        ("/hub/openai/gsm8k/data/train-00000-of-00002.parquet", "gsm8k-train"),
        ("./test.csv", "test"),
        ("../data/dev.jsonl.gz", "dev"),
        ("a/tests.csv", "tests"),
        ("a/B.CSV.GZ", "B"),
    ],
)
def test_exams_of_files_that_are_splits_are_called_by_their_folder(path, name):
    assert name_of(path) == name
