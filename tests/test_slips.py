"""Names that are nearly other names."""

from __future__ import annotations

import pytest
from tests_commands import proctor

from proctor.slips import is_slip, slips


@pytest.mark.parametrize(
    "name, other, expected",
    [
        ("anwser", "answer", True),
        ("Answer", "answer", True),
        ("answr", "answer", True),
        ("ansswer", "answer", True),
        ("answet", "answer", True),
        ("answers", "answer", False),
        ("answer", "answers", False),
        ("part_1", "part_2", False),
        ("part_1", "part_12", False),
        ("answer", "answer", False),
        ("question", "answer", False),
        ("wansre", "answer", False),
    ],
)
def test_one_slip_of_the_pen(name, other, expected):
    assert is_slip(name, other) is expected
    assert is_slip(other, name) is expected


def test_all_that_a_name_may_be_misspelt_for():
    assert slips("cat", ["car", "cta", "cats", "cat", "dog"]) == ["car", "cta"]


FILES = {
    "q.csv": "question,answer\nCapital of France?,Paris\nCapital of Japan?,Tokyo\n",
    "sub/q.csv": "question,answer\nA?,B\n",
    "quote.csv": '"question,answer\nA?,B\n',
    "ragged.csv": "question,answer\nA?,B,C\n",
    "empty.csv": "",
    "head.csv": "question,answer\n",
    "odd.csv": "ask,right\nA?,B\n",
    "twice.csv": "question,question\nA?,C?\n",
    "cut.jsonl": '{"question": "A?", "answer": "B"}\n{"question": "C?",\n',
    "row.json": '{"question": "A?"}',
    "no.xlsx": "not a workbook",
    "notes.docx": "a letter",
    "half.yaml": 'task: a\ndoc_to_text: "{{question}\ndoc_to_target: b\n',
    "tab.yaml": "task: a\n\tdataset_path: json\n",
    "list.yaml": "- a\n",
    "bare.yaml": "task: bare\ndoc_to_text: '{{question}}'\n",
    "key.yaml": "task: key\ndoc_to_txt: a\n",
    "models.yaml": "one: {engine: dummmy}\n",
    "nameless.yaml": "one: {model: dummy}\n",
    "criteria.yaml": "- polite\n- : x\n",
    "prompt.txt": "Answer: {qestion}",
    "same.txt": "Answer me",
    "said.txt": "Paris\n",
    "bad.jsonl": "Paris\n",
    "one.jsonl": '"Paris"\n',
    "no.db": "not a database, although its name says so, and long enough to be one",
    "prices.json": "{",
    "conf.py": "datasets = [\n",
}
"""What a newcomer's folder may hold."""

MISTAKES = [
    # what is typed, what is said to be wrong, and what to do next
    ("run capital.csv -m dummy", "there is no file 'capital.csv'", "hint: "),
    ("run Q.CSV -m dummy", "there is no file 'Q.CSV'", "did you mean 'q.csv'?"),
    ("run q.cvs -m dummy", "there is no file 'q.cvs'", "did you mean 'q.csv'?"),
    ("run gone/q.csv -m dummy", "there is no folder 'gone'", "paths start at the folder"),
    ("run sub -m dummy", "the folder 'sub' holds no run", "name a file in it: sub/q.csv"),
    ("run q.csv sub/q.csv -m dummy", "they are different exams", "'sub/q.csv[name=q-2]'"),
    ("run quote.csv -m dummy", "not valid CSV", "begins with a quote ends with one"),
    ("run ragged.csv -m dummy", "3 cells, and the table has 2", 'stands in quotes: "a, b"'),
    ("run empty.csv -m dummy", "the file is empty", "write a header and rows"),
    ("run head.csv -m dummy", "the table has no rows", "write a row below its header"),
    ("run odd.csv -m dummy", "which column of the table is asked", "--input-column NAME"),
    ("run twice.csv -m dummy", "2 columns 'question'", "give each a name of its own"),
    ("run cut.jsonl -m dummy", "this is not JSON (cut.jsonl:2", "each line is one whole object"),
    ("run row.json -m dummy", "needs a '__type__'", "rows of a table are a list"),
    ("run no.xlsx -m dummy", "not a workbook", "or as CSV"),
    ("run notes.docx -m dummy", "not a file that holds an exam", "save a table as CSV"),
    ("run half.yaml -m dummy", "half.yaml:2:14)", "close the quote that begins here"),
    ("run tab.yaml -m dummy", "tab.yaml:2:1)", "indent with spaces"),
    ("run list.yaml -m dummy", "a mapping of keys", "a .csv or .jsonl file"),
    ("run bare.yaml -m dummy", "neither test_split nor validation_split", "write test_split: test"),
    ("run key.yaml -m dummy", "no key 'doc_to_txt'", "did you mean 'doc_to_text'"),
    ("run conf.py -m dummy", "not valid Python", "the line that is shown"),
    ("run q.csv -m dumy", "no engine 'dumy'", "did you mean 'dummy'?"),
    ("run q.csv -m openai", "needs the argument 'model'", "--model-args model=…"),
    ("run q.csv -m gpt-4o", "no engine 'gpt-4o'", "openai/gpt-4o"),
    ("run q.csv -m dummy -a temprature=0", "no argument 'temprature'", "--decoding"),
    ("run q.csv -m dummy -a answer", "not a key=value", "write --model-args key=value"),
    ("run q.csv -m openai/x -a base_url=http://127.0.0.1:99999/v1", "Port out of range", "http://host:port/path"),
    ("run q.csv -m openai/x -a base_url=htp://127.0.0.1/v1", "'htp' is neither http nor https", "http://host:port"),
    ("run q.csv --modle dummy", "no option '--modle'", "did you mean '--model'?"),
    ("run q.csv", "no model is named", "add --model"),
    ("rnu q.csv -m dummy", "no command 'rnu'", "did you mean 'run'?"),
    ("run q.csv --models models.yaml", "no engine 'dummmy'", "did you mean 'dummy'?"),
    ("run q.csv --models nameless.yaml", "names no engine", "engine: openai"),
    ("run q.csv --models gone.yaml", "no list of models gone.yaml", "a file that lists them"),
    ("run q.csv -m dummy --metric exat", "no metric 'exat'", "did you mean 'exact'?"),
    ("run q.csv -m dummy --metric exact,f1", "no metric 'exact,f1'", "--metric exact --metric f1"),
    ("run q.csv -m dummy --metric regex:(", "does not compile", r"\("),
    ("run q.csv -m dummy --input-column qestion", "names 'qestion'", "did you mean 'question'?"),
    ("run q.csv -m dummy --answer-column anser", "names 'anser'", "did you mean 'answer'?"),
    ("run q.csv -m dummy --prompts prompt.txt", "names 'qestion'", "did you mean 'question'?"),
    ("run q.csv -m dummy --prompts same.txt", "asks the same of every row", "write a column in braces"),
    ("run q.csv -m dummy --prompts gone.txt", "no file of prompts", "the words themselves"),
    ("run q.csv -m dummy --num-demos 5", "drawn from a pool of 2", "fewer demos"),
    ("run q.csv -m dummy --limit ten", "neither a number of instances", "hint: "),
    ("run q.csv -m dummy --metric judge", "nobody says which model", "--judge"),
    ("run q.csv -m dummy --judge dummy --criteria criteria.yaml", "criteria.yaml:2:3)", "look at the indentation"),
    ("run q.csv -m dummy --judge dummy --criteria gone.yaml", "gone.yaml cannot be read", "takes a sentence"),
    ("run q.csv -m dummy --log no.db", "it is not a SQLite file", "name another file with --log"),
    ("run q.csv -m dummy --prices prices.json --budget-usd 1", "not a price table", "it looks like this"),
    ("run q.csv -m dummy --budget-usd 1", "what 'dummy' costs", "--prices FILE.json"),
    ("run q.csv -m dummy --fail-under other=0.5", "names 'other'", "the exams are q"),
    ("run q.csv -m dummy --executor slurm", "no executor 'slurm'", "local"),
    ("run q.csv -m replay -a path=gone.jsonl", "'gone.jsonl' cannot be read", "samples.jsonl of a run"),
    ("evaluate -t q.csv --predictions one.jsonl", "1 predictions are given for 2", "one for each question"),
    ("evaluate -t q.csv --predictions said.txt", "1 predictions are given for 2 questions", "one for each question"),
    ("evaluate q.csv --predictions bad.jsonl", "not valid JSON (bad.jsonl:1:1)", "a text stands in quotes"),
    ("evaluate q.csv", "q.csv has no column 'prediction'", "--prediction-column"),
    ("evaluate -t q.csv --predictions gone.jsonl", "gone.jsonl cannot be read", "--predictions"),
    ("compare runs/a runs/b", "no folder runs/a", "name a run folder"),
    ("convert q.csv --to lmeval", "no form 'lmeval'", "did you mean 'lm-eval'?"),
    ("run runs/gone", "there is no folder runs/gone", "add --model"),
    ("run q.csv[limit=3 -m dummy", "the bracket of 'q.csv[limit=3' is not closed", "write 'q.csv[limit=3]'"),
    ("run q.csv@mcq -m dummy", "'q.csv' has no template 'mcq'", "--prompt"),
    ("run samples.sentimant -m dummy", "no exam 'samples.sentimant'", "did you mean 'samples.sentiment'"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("newcomer")
    (place / "sub").mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize("line, wrong, then", MISTAKES, ids=[line for line, _, _ in MISTAKES])
def test_a_newcomers_mistake_is_answered_with_what_to_do_next(folder, line, wrong, then):
    done = proctor(*line.split(), cwd=folder)
    assert done.returncode in (2, 3)
    assert wrong in done.stderr, done.stderr
    assert "hint: " in done.stderr, done.stderr
    assert then in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_that_did_not_answer_is_not_said_to_have_no_metric(folder):
    done = proctor("run", "q.csv", "-m", "scripted", "-o", "silent", cwd=folder)
    assert "no answer is scripted" in done.stderr
    assert "it has no metric of its own" not in done.stderr
