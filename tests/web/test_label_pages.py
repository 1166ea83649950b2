"""People label answers in the viewer: blind, by keyboard, each under a name; labels are kept in the run folder."""

import json
import re
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient
from tests_web_support import NASTY, client_of, sample, write_run

from proctor.cli.__main__ import main
from proctor.runs.answer_labels import LABELS
from proctor.web.access import WITHOUT_TOKEN
from proctor.web.app import create_app
from proctor.web.site import export_site

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def run_id(ids):
    return ids["first"]


def _send(client, run_id, **given):
    return client.post(f"/runs/{run_id}/label", content=urlencode(given), headers=FORM, follow_redirects=False)


def _shown(client, run_id, **given):
    return client.get(f"/runs/{run_id}/label?{urlencode(given)}").text


def _answer(page):
    return re.search(r'name="answer" value="([^"]+)"', page)[1]


def test_an_answer_is_labelled_and_the_next_one_follows(client, run_id, runs, capsys):
    assert "Who labels" in _shown(client, run_id)
    page = _shown(client, run_id, who="Ann")
    assert "0 of 102 labelled" in page
    assert [f'data-key="{key}"' in page for key in "10.sb"] == [True] * 5
    answer = _answer(page)
    found = _send(client, run_id, who="Ann", at=0, answer=answer, label="1")
    assert (found.status_code, found.headers["location"]) == (303, f"/runs/{run_id}/label?who=Ann&at=1")
    line = json.loads((runs / "first" / LABELS).read_text())
    assert line == {**line, "answer": answer, "label": 1.0, "who": "Ann"}
    assert line["stands_for"] > 1
    after = _shown(client, run_id, who="Ann")  # goes on where she stopped
    assert "1 of 102 labelled" in after
    assert _answer(after) != answer
    assert _answer(_shown(client, run_id, who="Bob")) == answer
    back = _shown(client, run_id, who="Ann", at=0)
    assert _answer(back) == answer
    assert "take back" in back
    _send(client, run_id, who="Ann", at=0, answer=answer, label="")
    assert "0 of 102 labelled" in _shown(client, run_id, who="Ann")
    assert "were the last" in _shown(client, run_id, who="Ann", at=102)


def test_the_page_asks_about_the_answers_of_the_table_and_its_labels_count(client, run_id, runs, tmp_path, capsys):
    asked = set()
    for at in range(102):
        page = _shown(client, run_id, who="Ann", at=at)
        asked.add(_answer(page))
        assert _send(client, run_id, who="Ann", at=at, answer=_answer(page), label="10"[at % 2]).status_code == 303
    table = tmp_path / "l.csv"
    assert main(["judge", "label", str(runs / "first"), "-o", str(table), "--exam", "capitals"]) == 0
    assert {line.split(",")[0] for line in table.read_text().splitlines() if line.startswith("a-")} <= asked
    capsys.readouterr()
    main(["plan", str(runs / "first"), "--json"])
    scores = {each["exam"]: each["labels"] for each in json.loads(capsys.readouterr().out)["scores"]}
    assert scores["capitals"] == 100


def test_it_is_blind(tmp_path):
    root = tmp_path / "runs"
    write_run(root / "secret-model-night", [sample(number) for number in range(12)], model="secret-model")
    app = create_app([root])
    client = TestClient(app, base_url="http://127.0.0.1:7700")
    client.headers["authorization"] = f"Bearer {app.state.access.token}"
    run_id = next(iter(app.state.library.runs()))[0]
    page = _shown(client, run_id, who="Ann")
    assert "What is question" in page
    for secret in ("secret-model", "accuracy", "1.0", "right (", "✓"):
        assert secret not in page


@pytest.mark.parametrize(
    "given",
    [
        {"answer": "a-1-2", "label": "1", "at": 0, "who": "Ann"},
        {"answer": None, "label": "2", "at": 0, "who": "Ann"},
        {"answer": None, "label": "1", "at": 1, "who": "Ann"},
        {"answer": None, "label": "1", "at": 99999, "who": "Ann"},
        {"answer": None, "label": "1", "at": 0, "who": " "},
        {"answer": None, "label": "1", "at": 0, "who": "x" * 101},
        {"answer": None, "label": "1", "at": "-1", "who": "Ann"},
    ],
)
def test_what_is_not_a_label_is_refused(client, run_id, runs, given):
    first = _answer(_shown(client, run_id, who="Ann"))
    assert _send(client, run_id, **{**given, "answer": given["answer"] or first}).status_code == 404
    assert not (runs / "first" / LABELS).exists()


def test_only_our_own_page_sends_labels_and_only_with_the_token(runs):
    app = create_app([runs])
    run_id = next(iter(app.state.library.runs()))[0]
    client = TestClient(app, base_url="http://127.0.0.1:7700", headers=FORM)
    assert client.post(f"/runs/{run_id}/label", content="label=1").status_code == 403
    client.get(f"/runs?token={app.state.access.token}")
    for origin in ("http://evil.example", "null", "http://127.0.0.1:7701"):
        assert client.post(f"/runs/{run_id}/label", content="label=1", headers={"origin": origin}).status_code == 403
    open_app = create_app([runs], access=WITHOUT_TOKEN)
    anybody = TestClient(
        open_app, base_url="http://127.0.0.1:7700", headers={**FORM, "origin": "http://127.0.0.1:7700"}
    )
    assert anybody.post(f"/runs/{run_id}/label", content="label=1").status_code == 403
    assert "start proctor view without --no-token" in anybody.get(f"/runs/{run_id}/label").text
    assert "Label answers" not in anybody.get(f"/runs/{run_id}").text
    assert not list(runs.rglob(LABELS))


def test_words_of_models_and_labellers_are_never_markup(tmp_path):
    root = tmp_path / "runs"
    write_run(root / "nasty", [sample(number, output=NASTY) for number in range(12)])
    app = create_app([root])
    client = TestClient(app, base_url="http://127.0.0.1:7700")
    client.headers["authorization"] = f"Bearer {app.state.access.token}"
    run_id = next(iter(app.state.library.runs()))[0]
    page = _shown(client, run_id, who=NASTY[:90])
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_an_export_has_no_page_for_labels(runs, tmp_path):
    export_site([runs], tmp_path / "site", print)
    assert not [each for each in (tmp_path / "site").rglob("*.html") if "label" in each.name]
    assert "Label answers" not in (tmp_path / "site" / "index.html").read_text()


def test_choices_stand_below_the_question_and_an_answer_is_the_choice(tmp_path):
    prompt = "Question: What is 1 + 0?\nA. 1\nB. 2\nAnswer: A\n\nQuestion: What is question 0?\nA. yes\nB. no\nAnswer:"
    chosen = {"kind": "choose", "prompt": prompt, "output": [{"log_likelihood": -1.5, "is_greedy": False}] * 2}
    write_run(tmp_path / "run", [sample(0, prediction="B", references=["A"], instance="0" * 16, **chosen)])
    with client_of(create_app([tmp_path])) as client:
        page = _shown(client, client.app.state.library.runs()[0][0], who="Ann")
    texts = re.findall(r"<pre[^>]*>([^<]*)</pre>", page)
    assert texts == ["What is question 0?\nA. yes\nB. no\nAnswer:", "A", "B"]


def test_why_no_answer_can_be_labelled_is_said(client, runs):
    folder = write_run(runs / "failed", [sample(0, scores={"score": None}, failure={"type": "judge", "message": "no"})])
    run_id = next(each for each, run in client.app.state.library.runs() if run.path == folder)
    assert "no answer has a score" in _shown(client, run_id, who="Ann")
