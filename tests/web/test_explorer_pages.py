import json
import re
import shlex
import subprocess
import sys
from html import unescape

import pytest


def test_search_finds_exams_by_words_and_globs(client):
    page = client.get("/explore?q=samples.*&kind=exam").text
    for name in ("samples.science", "samples.sentiment", "samples.arithmetic"):
        assert f"/explore/exam?exam={name}" in page


def test_a_prompt_is_shown_in_its_parts(client):
    page = client.get("/explore/exam?exam=samples.science&doc=2").text
    for part in ("instruction", "demo-question", "demo-answer", "question", "choice"):
        assert f'class="part-{part}"' in page
    assert "characters" in page
    assert "gold" in page


def test_two_settings_side_by_side_with_their_difference(client):
    page = client.get("/explore/exam?exam=samples.arithmetic&other_num_demos=1").text
    assert page.count('aria-label="Parts of the prompt"') == 2
    assert "<del>" in page


def test_an_answer_can_be_tried(client):
    page = client.get("/explore/exam?exam=samples.arithmetic&answer=It+must+be+12.").text
    assert "Your answer" in page
    assert re.search(r"After processors</dt><dd class=\"text\">12", page)


@pytest.mark.parametrize(
    "query, words",
    [
        ("exam=samples.sceince", "samples.science"),
        ("exam=", "no exam is chosen"),
        ("exam=samples.science&doc=99999", "no document 99999"),
        ("exam=samples.science&template=templates.nothing", "templates.nothing"),
        ("exam=samples.science&num_demos=many", "no number of demos"),
        ("exam=card%3D[", "error"),
    ],
)
def test_mistakes_are_explained_on_the_page(client, query, words):
    answer = client.get(f"/explore/exam?{query}")
    assert answer.status_code in {200, 400}
    assert "Traceback" not in answer.text
    assert words in answer.text or words == "error"
    assert 'role="alert"' in answer.text


def test_the_code_runs_as_copied(client, tmp_path):
    page = client.get("/explore/exam?exam=samples.sentiment&num_demos=1").text
    code = [
        unescape(text)
        for text in re.findall(r'<pre class="text" tabindex="0" id="code-1-\d">(.*?)</pre>', page, re.DOTALL)
    ]
    show, _, recipe, python, saved = code
    assert shlex.split(show)[2] == recipe
    environment_command = [sys.executable, "-m", *shlex.split(show.replace("--docs 3", "--docs 1")), "--json"]
    done = subprocess.run(environment_command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert '"task"' in done.stdout
    (tmp_path / "saved.json").write_text(saved)
    again = [sys.executable, "-m", "proctor", "show", str(tmp_path / "saved.json"), "--json"]
    same = subprocess.run(again, capture_output=True, text=True, check=False, timeout=120)
    assert same.returncode == 0, same.stderr
    assert json.loads(same.stdout)["prompt"] == json.loads(done.stdout)["prompt"]
    done = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "test " in done.stdout
