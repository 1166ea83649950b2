"""The page of questions."""

from __future__ import annotations


def test_the_list_of_runs_leads_to_their_questions(client, ids):
    assert 'formaction="/items"' in client.get("/runs").text
    page = client.get("/items", params={"run": list(ids.values())})
    assert page.status_code == 200
    assert "<h1>Questions</h1>" in page.text
    assert "answered by every model" in page.text


def test_without_any_chosen_all_runs_count(client, ids):
    assert client.get("/items").text == client.get("/items", params={"run": list(ids.values())}).text
