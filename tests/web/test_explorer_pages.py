import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from html import unescape

import pytest
import yaml
from tests_web_support import client_of

from proctor.cli.__main__ import main
from proctor.web.app import create_app
from proctor.web.rendering import breakable


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


def test_fields_that_are_left_empty_say_what_the_exam_has(client):
    page = client.get("/explore/exam?exam=samples.science").text
    assert re.search(r'name="template"[^>]* placeholder="samples.templates.science"', page)
    assert re.search(r'name="num_demos"[^>]* placeholder="3"', page)
    changed = client.get("/explore/exam?exam=samples.science&num_demos=1").text
    assert re.search(r'name="other_num_demos"[^>]* placeholder="1"', changed)


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
        ("exam=samples.science&doc=99999", "no instance 99999"),
        ("exam=samples.science&template=templates.nothing", "templates.nothing"),
        ("exam=samples.science&num_demos=many", "not a number of demos"),
        ("exam=card%3D[", "error"),
    ],
)
def test_mistakes_are_explained_on_the_page(client, query, words):
    answer = client.get(f"/explore/exam?{query}")
    assert answer.status_code in {200, 400}
    assert "Traceback" not in answer.text
    assert words in answer.text or words == "error"
    assert 'role="alert"' in answer.text


def test_long_names_are_broken_behind_their_dots_and_lines_and_stay_text():
    assert breakable("a.b_c<d") == "a.<wbr>b_<wbr>c&lt;d"


def test_tags_are_searched_and_shown(client):
    page = client.get("/explore?q=templates+task+classification+relation").text.replace("<wbr>", "")
    assert "templates.classification.multi_class.relation.default" in page
    assert "task: classification" in page


def test_a_task_leads_to_its_cards(client):
    page = client.get("/explore?q=samples.tasks.science&kind=task").text
    link = unescape(re.search(r'<th scope="row"><a href="([^"]*)"', page).group(1))
    assert "samples.cards.science" in client.get(link).text


def test_nothing_found_is_said(client):
    assert "Nothing has these words" in client.get("/explore?q=xyzzyplugh").text


def forms_on(client, query):
    """The forms of the first setting on a page: title to text."""
    page = client.get(f"/explore/exam?{query}").text
    titles = re.findall(r'<h3 id="code-title-1-\d">([^<]*?) <button', page)
    texts = re.findall(r'<pre class="text" tabindex="0" id="code-1-\d">(.*?)</pre>', page, re.DOTALL)
    return dict(zip(titles, map(unescape, texts), strict=True))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own, with ``proctor`` on the path, and no model but one that always says the same."""
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "proctor"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m proctor "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PROCTOR_ENGINE_MAP", "*=scripted[answer=positive]")
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def shell(here, capsys):
    """Runs a copied command: in a shell where it is more than one command, else in this process, which is faster."""

    def run(command, *more):
        if "<<" in command:
            done = subprocess.run(
                ["bash", "-c", " ".join([command, *more])], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return done.stdout
        program, *arguments = shlex.split(command)
        assert program == "proctor"
        assert main([*arguments, *more]) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def python(here, capsys):
    """Runs a copied program."""

    def run(text):
        (here / "program.py").write_text(text)
        runpy.run_path(str(here / "program.py"))
        return capsys.readouterr().out

    return run


def prompts_shown(shell, *arguments):
    lines = shell("proctor show", *arguments, "--docs", "3", "--json").splitlines()
    return [json.loads(line)["prompt"] for line in lines]


def test_every_form_of_a_recipe_runs_as_copied(client, shell, python, here):
    forms = forms_on(client, "exam=samples.sentiment&num_demos=1")
    assert list(forms) == ["Show it", "Run it", "Python", "Recipe", "lm-eval YAML", "Catalog JSON"]
    wanted = [json.loads(line)["prompt"] for line in shell(forms["Show it"], "--json").splitlines()]
    assert len(wanted) == 3
    assert "samples.sentiment" in shell(forms["Run it"].replace("--limit 20", "--limit 2"))
    assert wanted[0] in python(forms["Python"])
    assert prompts_shown(shell, forms["Recipe"]) == wanted
    for name, form in (("task.yaml", "lm-eval YAML"), ("saved.json", "Catalog JSON")):
        (here / name).write_text(forms[form])
        assert prompts_shown(shell, name) == wanted


def test_copied_text_runs_in_a_shell_and_in_a_new_python(client, here):
    forms = forms_on(client, "exam=samples.sentiment&num_demos=1")
    for command in (["bash", "-c", forms["Show it"]], [sys.executable, "-c", forms["Python"]]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
        assert done.returncode == 0, done.stderr
        assert "Positive or negative" in done.stdout or "positive" in done.stdout


def test_words_of_a_system_prompt_are_in_every_form(client, shell, python):
    forms = forms_on(client, "exam=samples.sentiment&num_demos=0&system_prompt=Answer+%27quickly%27.")
    shown = shell(forms["Show it"], "--json")
    assert "Answer 'quickly'." in shown
    assert json.loads(shown.splitlines()[0])["prompt"] in python(forms["Python"])
    assert "# with --system_instruction" in forms["lm-eval YAML"]


@pytest.fixture
def tasks(tmp_path):
    """A folder with a task of lm-eval whose data lies beside it."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    rows = [{"question": f"What colour is {number}?", "answer": number % 2} for number in range(12)]
    for split in ("train", "validation", "test"):
        lines = [json.dumps({**row, "question": f"{split}: {row['question']}"}) for row in rows]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n")
    files = {split: str(folder / f"{split}.jsonl") for split in ("train", "validation", "test")}
    task = {
        "task": "colours",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": files},
        "training_split": "train",
        "validation_split": "validation",
        "test_split": "test",
        "fewshot_split": "train",
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}} It is",
        "doc_to_choice": ["red", "blue"],
        "doc_to_target": "answer",
        "num_fewshot": 1,
    }
    (folder / "colours.yaml").write_text(json.dumps(task))
    return folder


@pytest.fixture
def with_tasks(runs, tasks, monkeypatch):
    """The app, started with a folder of tasks; copies of them elsewhere may read its data, because the user says so."""
    monkeypatch.setenv("PROCTOR_ALLOW", f"read:{tasks}")
    with client_of(create_app([runs], include_paths=[str(tasks)])) as made:
        yield made


@pytest.mark.parametrize(
    "query, words",
    [
        ("", "train: "),
        ("&num_demos=2", "train: "),
        ("&template=cloze&num_demos=0", "test: "),
        ("&sampler=first_n&split=validation&num_demos=2", "validation: What colour is 0? It is"),
        ("&system_prompt=Be+brief.", "Be brief."),
    ],
)
def test_every_form_of_a_task_of_lm_eval_runs_as_copied(with_tasks, shell, python, here, query, words):
    assert "colours" in with_tasks.get("/explore?q=colours").text
    forms = forms_on(with_tasks, f"exam=colours{query}")
    assert list(forms) == ["Show it", "Run it", "Python", "lm-eval YAML"]
    wanted = [json.loads(line)["prompt"] for line in shell(forms["Show it"], "--json").splitlines()]
    assert words in wanted[0]
    assert wanted[0] in python(forms["Python"])
    (here / "mine.yaml").write_text(forms["lm-eval YAML"])
    more = ["--system-prompt", "Be brief."] if "system_prompt" in query else []
    assert prompts_shown(shell, "mine.yaml", *more) == wanted


def test_a_task_of_lm_eval_beside_itself_with_more_demos(with_tasks):
    page = with_tasks.get("/explore/exam?exam=colours&other_num_demos=3").text
    assert page.count('aria-label="Parts of the prompt"') == 2
    assert "<ins>" in page or "<del>" in page
    assert "takes no format but" in with_tasks.get("/explore/exam?exam=colours&format=formats.llama2").text
    assert "<h3>user</h3>" in with_tasks.get("/explore/exam?exam=colours&format=chat").text


def test_templates_of_a_card_are_suggested_first(client):
    page = client.get("/explore/exam?exam=cards.wnli").text
    names = page.partition('<datalist id="names-template">')[2].partition("</datalist>")[0]
    assert names.startswith('<option value="templates.classification.multi_class.relation')


def test_a_card_of_any_catalog_makes_an_exam(client):
    forms = forms_on(client, "exam=samples.cards.sentiment&template=samples.templates.sentiment&num_demos=1")
    assert forms["Recipe"] == (
        "card=samples.cards.sentiment,template=samples.templates.sentiment,num_demos=1,demos_pool_size=100"
    )


@pytest.mark.parametrize(
    "query, words",
    [
        ("exam=samples.science&answer=b", "<dt>accuracy</dt><dd>1.0"),
        ("exam=samples.science&answer=a", "<dt>accuracy</dt><dd>0.0"),
        ("exam=samples.science&answer=perhaps", "the choices are &#39;A&#39;, &#39;B&#39;"),
    ],
)
def test_an_answer_to_choices_is_one_of_them(client, query, words):
    assert words in client.get(f"/explore/exam?{query}").text


def test_of_several_exams_one_is_looked_at(client):
    page = client.get("/explore/exam?exam=samples").text
    assert "One of 3" in page
    assert "Answer each question with the letter" in page
    page = client.get("/explore/exam?exam=samples&member=samples.arithmetic").text
    assert "<option selected>samples.arithmetic</option>" in page
    assert "Solve each problem" in page
    assert "has no exam" in client.get("/explore/exam?exam=samples&member=samples.history").text


@pytest.mark.parametrize("sampler", ["random", "first", "close_text[field=text]"])
def test_samplers_are_chosen(client, sampler):
    forms = forms_on(client, f"exam=samples.sentiment&num_demos=2&sampler=samplers.{sampler}")
    assert f"samplers.{sampler}" in forms["Recipe"]
    page = client.get(f"/explore/exam?exam=samples.sentiment&num_demos=2&sampler=samplers.{sampler}").text
    assert 'title="demo 2 answer"' in page
    assert "samplers.random" in client.get("/explore?q=demos&kind=sampler").text.replace("<wbr>", "")


def test_no_page_runs_code_of_a_task_file(with_tasks, tasks, tmp_path):
    (tasks / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\ndef change(docs): return docs\n")
    task = json.loads((tasks / "colours.yaml").read_text()) | {"task": "evil"}
    (tasks / "evil.yaml").write_text("process_docs: !function evil.change\n" + yaml.safe_dump(task))
    page = with_tasks.get("/explore/exam?exam=evil").text
    assert "no page runs code of a task file" in page
    assert "proctor show" in page
    assert not (tmp_path / "ran").exists()


def test_a_missing_tokenizer_is_explained(client):
    page = client.get("/explore/exam?exam=samples.science&model=nobody/nothing").text
    assert "the tokenizer of &#39;nobody/nothing&#39; is not on this machine" in page
    assert "Answer each question" in page


CONFIG = """
datasets = [
    dict(
        abbr='sums',
        type='opencompass.datasets.JsonlDataset',
        path={path!r},
        reader_cfg=dict(input_columns=['question'], output_column='answer', train_split='test', test_split='test'),
        infer_cfg=dict(
            ice_template=dict(type='PromptTemplate', template=dict(round=[
                dict(role='HUMAN', prompt='Q: {{question}}'), dict(role='BOT', prompt='{{answer}}')])),
            prompt_template=dict(type='PromptTemplate', ice_token='</E>', template=dict(begin='</E>', round=[
                dict(role='HUMAN', prompt='Q: {{question}}'), dict(role='BOT', prompt='{{answer}}')])),
            retriever=dict(type='FixKRetriever', fix_id_list=[0]),
            inferencer=dict(type='GenInferencer', max_out_len=8),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
"""


@pytest.mark.parametrize("query", ["", "&num_demos=2", "&system_prompt=Be+brief.", "&format=chat"])
def test_every_form_of_a_config_runs_as_copied(with_tasks, tasks, shell, python, here, tmp_path, query):
    rows = "".join(json.dumps({"question": f"{n} + {n}?", "answer": str(2 * n)}) + "\n" for n in range(6))
    (tasks / "rows.jsonl").write_text(rows)
    (tasks / "sums_gen.py").write_text(CONFIG.format(path=str(tasks / "rows.jsonl")))
    forms = forms_on(with_tasks, f"exam=sums_gen{query}")
    assert list(forms) == ["Show it", "Run it", "Python", "AISBench config"]
    wanted = [json.loads(line)["prompt"] for line in shell(forms["Show it"], "--json").splitlines()]
    assert len(wanted) == 3
    assert str(wanted[0]) in python(forms["Python"])
    (here / "mine.py").write_text(forms["AISBench config"])
    assert prompts_shown(shell, "mine.py", *shlex.split(forms["Show it"])[3:-2]) == wanted
