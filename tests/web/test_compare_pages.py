def test_two_runs_are_compared_in_pairs(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}").text
    assert "capitals" in page
    assert "(1 left out)" in page
    assert "<svg" in page
    assert "nasty" not in page.partition("<table>")[2]


def test_flips_are_shown_side_by_side(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=worse").text
    assert "worse three" in page
    assert "worse four" in page
    assert "answer 3" in page
    assert "other 7" not in page
    better = client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=better").text
    assert "other 7" in better


def test_without_runs_there_is_a_form(client):
    page = client.get("/compare").text
    assert page.count("<select") == 2
