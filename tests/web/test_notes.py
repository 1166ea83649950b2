"""Notes and thumbs on answers: kept in the run folder, shown wherever the answer is, sent only with the token."""

import json
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient
from tests_web_support import NASTY, sample, write_run

from proctor.cli.__main__ import main
from proctor.runs.answer_labels import answers_of
from proctor.runs.answer_notes import NOTES, Note, add_note, notes_of
from proctor.runs.sample_lines import answer_key
from proctor.runs.stored_run import load_run
from proctor.web.access import WITHOUT_TOKEN
from proctor.web.app import create_app
from proctor.web.site import export_site

FORM = {"content-type": "application/x-www-form-urlencoded"}


def _send(client, address, **given):
    return client.post(f"{address}/note", content=urlencode(given), headers=FORM, follow_redirects=False)


def _browser(app, **headers):
    """A client with the cookie of a browser."""
    client = TestClient(app, base_url="http://127.0.0.1:7700")
    client.get(f"/runs?token={app.state.access.token}")
    client.headers.update({**FORM, **headers})
    return client


def test_a_note_is_kept_in_the_folder_and_shown_wherever_the_answer_is(client, ids, runs, tmp_path, capsys):
    address = f"/runs/{ids['first']}/samples/7"
    answer = _send(
        client, address, thumb="down", note="the gold is <b>wrong</b>", who="Ann", back=f"{address}?order=score"
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"{address}?order=score")
    line = json.loads((runs / "first" / NOTES).read_text())
    assert line == {**line, "thumb": "down", "note": "the gold is <b>wrong</b>", "who": "Ann"}
    assert line["answer"] == answer_key(sample(7))
    shown = "the gold is &lt;b&gt;wrong&lt;/b&gt;"
    assert shown in client.get(address).text
    listed = client.get(f"/runs/{ids['first']}/samples?notes=yes").text
    assert "1 found" in listed
    assert shown in listed
    assert "With notes" in client.get(f"/runs/{ids['first']}").text
    asked = f"/compare?run={ids['second']}&run={ids['first']}&exam=capitals&with={ids['first']}&way=worse"
    assert shown in client.get(asked).text
    assert main(["report", "--answers", "noted", str(runs / "first"), str(runs / "second")]) == 0
    told = capsys.readouterr().out
    assert "[👎 the gold is <b>wrong</b> (Ann)]" in told
    assert "1 of 1 questions shown" in told
    export_site([runs], tmp_path / "site", print)
    assert shown in (tmp_path / "site" / "runs" / ids["first"] / "samples" / "7.html").read_text()


def test_a_note_stays_with_the_answer_when_it_is_graded_again(tmp_path):
    run = write_run(tmp_path / "run", [sample(0), sample(1)])
    add_note(run, answer_key(sample(1)), Note("up", "good"))
    changed = [sample(1, score=0.0), sample(0, output="another answer")]
    (run / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in changed))
    assert [bool(notes_of(run).get(answer_key(each))) for each in changed] == [True, False]
    assert set(notes_of(run)) <= set(answers_of(load_run(run), "capitals").keys)  # the key that labels have


def test_files_of_strangers_are_neither_followed_nor_believed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text('{"answer": "a-1", "note": "secret"}\n')
    run = write_run(tmp_path / "run", [sample(0)])
    (run / NOTES).symlink_to(outside)
    assert notes_of(run) == {}
    add_note(run, "a-2", Note("up", ""))
    assert outside.read_text().count("\n") == 1
    assert not (run / NOTES).is_symlink()
    odd = [
        "nothing",
        "[1]",
        '{"answer": 3, "thumb": ["up"], "note": {"a": 1}}',
        "[" * 100_000,
        '{"answer": "a-3", "thumb": "x"}',
    ]
    (run / NOTES).write_text("\n".join(odd))
    assert all(isinstance(each.text, str) and not each.thumb for kept in notes_of(run).values() for each in kept)
    add_note(run, "a-4", Note("up", "after a torn line"))
    assert "a-4" in notes_of(run)


def test_a_browser_sends_notes_only_from_our_own_page(runs):
    app = create_app([runs])
    run_id = next(iter(app.state.library.runs()))[0]
    address, body = f"/runs/{run_id}/samples/1/note", urlencode({"note": "n"})
    ours = {"origin": "http://127.0.0.1:7700", "sec-fetch-site": "same-origin"}
    refused = [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:7701"},
        {**ours, "sec-fetch-site": "cross-site"},
        {**ours, "content-type": "text/plain"},
    ]
    for headers in refused:
        assert _browser(app, **headers).post(address, content=body).status_code == 403, headers
    strange = TestClient(app, base_url="http://127.0.0.1:7700", headers={**FORM, **ours})
    assert strange.post(address, content=body).status_code == 403
    wrong = TestClient(app, base_url="http://127.0.0.1:7700", headers={**FORM, "authorization": "Bearer no"})
    assert wrong.post(address, content=body).status_code == 403
    assert not list(runs.rglob(NOTES))
    assert _browser(app, **ours).post(address, content=body, follow_redirects=False).status_code == 303
    assert _browser(app, **ours).post(f"/runs/{run_id}/samples/1", content=body).status_code == 403
    assert _browser(app, **ours).put(address, content=body).status_code == 403


def test_without_a_token_nothing_is_kept(runs):
    app = create_app([runs], access=WITHOUT_TOKEN)
    client = TestClient(app, base_url="http://127.0.0.1:7700", headers={**FORM, "origin": "http://127.0.0.1:7700"})
    run_id = next(iter(app.state.library.runs()))[0]
    assert client.post(f"/runs/{run_id}/samples/1/note", content="note=n").status_code == 403
    assert 'method="post"' not in client.get(f"/runs/{run_id}/samples/1").text


def test_what_cannot_be_kept_is_said(client, ids):
    address = f"/runs/{ids['first']}/samples"
    assert _send(client, f"{address}/7", note="x" * 3000).status_code in (400, 404)
    assert _send(client, f"{address}/7", note="x" * 30_000).status_code == 413
    assert _send(client, f"{address}/99999", note="x").status_code == 404
    assert _send(client, "/runs/0000000000/samples/7", note="x").status_code == 404


@pytest.mark.parametrize(
    "back", ["http://evil.example", "//evil.example", "/\\evil.example", "", "javascript:alert(1)"]
)
def test_the_way_back_never_leads_to_another_site(client, ids, back):
    address = f"/runs/{ids['first']}/samples/7"
    assert _send(client, address, thumb="up", back=back).headers["location"] == address


def test_notes_are_never_markup(client, ids):
    address = f"/runs/{ids['first']}/samples/7"
    assert _send(client, address, note=NASTY, who=NASTY[:90]).status_code == 303
    for page in (address, f"/runs/{ids['first']}/samples", f"/runs/{ids['first']}"):
        text = client.get(page).text
        assert "<script>alert" not in text
        assert "\u202e" not in text
