import json

import pytest
import yaml

from proctor.artifacts import build
from proctor.dialects.lm_eval.resolve import resolve
from proctor.dialects.lm_eval.rewrite import convert
from proctor.dialects.resolve import resolve_task
from proctor.errors import TemplateError, UsageError
from proctor.ir import Choose
from proctor.recipes.options import ExamOptions
from proctor.scoring.pipeline import expand_metrics

ROWS = [
    {"q": f"Q{n}?", "choices": {"text": [f"w{n}", f"x{n}", "it's"], "label": ["A", "B", "C"]}, "key": "ABC"[n % 3]}
    for n in range(5)
]
TASK = """
task: t
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: "{{choices.text}}"
doc_to_target: "{{choices.label.index(key)}}"
metric_list: [{metric: acc}]
template: {mmlu: {prefix: "Ask: "}, "mcq::gpqa": {}}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "t.yaml").write_text(TASK)
    return tmp_path


def asked(name, folder):
    (exam,) = resolve([name], [str(folder)], ExamOptions(num_demos=2))
    requests = [request for item in exam.questions() for request in item.requests]
    if isinstance(requests[0], Choose):
        return [[(pair.context.text, pair.continuation) for pair in request.pairs] for request in requests]
    return [(request.prompt.text, request.decoding) for request in requests]


@pytest.mark.parametrize(
    "template", [None, "mcq", "cloze", "generate", "mcq::gpqa", "mcq::numbered", "cloze::options", "question"]
)
def test_templates_written_out_in_jinja_ask_the_same(folder, template):
    name = {None: "t", "mcq": "t@mmlu", "generate": "t@generate_until"}.get(template, f"t@{template}")
    expected = asked(name, folder)
    made = convert("t", template=template, to="lm-eval", include_paths=(str(folder),))
    values = yaml.safe_load(made.text)
    assert "template" not in values
    (folder / "new.yaml").write_text(made.text.replace(f"task: {values['task']}", "task: converted"))
    assert asked("converted", folder) == expected


@pytest.mark.parametrize("template", ["mmlu", "mcq::gpqa", "mcq::numbered", "generate_until", "cloze"])
@pytest.mark.parametrize(
    "target",
    ["{{choices.text[n]}}", "text", "{{key}}", "key", "{{n}}", "n", "{{digits}}", "{{choices.label.index(key)}}"],
)
def test_answers_by_position_text_or_label_are_written_out(folder, template, target):
    if "key" in target and "index" not in target and template in {"mcq::gpqa", "mcq::numbered"}:
        pytest.skip("letters are not labels of this template")
    rows = [
        {**row, "n": n % 3, "digits": str(n % 3), "text": row["choices"]["text"][n % 3]} for n, row in enumerate(ROWS)
    ]
    (folder / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    task = TASK.replace('"{{choices.label.index(key)}}"', f'"{target}"').replace("template: {", "unused: {")
    (folder / "t.yaml").write_text(task.rpartition("unused:")[0])
    for to in ("lm-eval", "proctor"):
        (folder / "u.yaml").write_text(convert("t", template=template, to=to, include_paths=(str(folder),)).text)
        new = convert("t", template=template, to=to, include_paths=(str(folder),)).text.partition("\n")[0][6:]
        assert asked(new, folder) == asked(f"t@{template}", folder)
        (folder / "u.yaml").unlink()


def test_a_template_of_many_labels_keeps_them_all(folder):
    rows = [{"q": f"Q{n}?", "choices": {"text": list("uvwxyz"), "label": list("ABCDEF")}, "key": "F"} for n in range(3)]
    (folder / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "t.yaml").write_text(TASK.rpartition("template:")[0])
    made = convert("t", template="mcq::gpqa", include_paths=(str(folder),))
    assert "template: mcq::gpqa" in made.text
    assert convert("t", template="mcq::numbered", to="lm-eval", include_paths=(str(folder),)).text


def test_demos_with_words_of_their_own_are_named(folder):
    (folder / "u.yaml").write_text("task: u\ninclude: t.yaml\nfewshot_config: {doc_to_text: 'Demo {{q}}'}\n")
    made = convert("u", template="mmlu", to="lm-eval", include_paths=(str(folder),))
    assert any(each.startswith("fewshot_config.doc_to_text") for each in made.lost)


@pytest.mark.parametrize("template", ["mcq", "cloze", "generate"])
def test_another_template_in_our_own_form(folder, template):
    made = convert("t", template=template, include_paths=(str(folder),))
    (folder / "new.yaml").write_text(made.text)
    name = {"mcq": "mmlu", "generate": "generate_until"}.get(template, template)
    assert asked(f"t_{name}", folder) == asked(f"t@{name}", folder)
    assert made.lost == ()


def test_what_lm_eval_cannot_express_is_named(folder):
    (folder / "u.yaml").write_text(
        "task: u\ninclude: t.yaml\nchat_override: {description: x}\nprocess_docs: !function utils.f\n"
    )
    lost = convert("u", to="lm-eval", include_paths=(str(folder),)).lost
    assert any(each.startswith("chat_override") for each in lost)
    assert any("process_docs (utils.f)" in each and str(folder) in each for each in lost)
    assert any("26 choices" in each for each in lost)


def test_a_function_cannot_be_wrapped_in_jinja(folder):
    (folder / "u.yaml").write_text("task: u\ninclude: t.yaml\ndoc_to_text: !function utils.f\n")
    from proctor.settings import settings

    (folder / "utils.py").write_text("def f(doc): return 'x'")
    with settings.context(trust_code=True), pytest.raises(TemplateError, match="cannot wrap in Jinja"):
        convert("u", to="lm-eval", include_paths=(str(folder),))


def test_a_unitxt_card(folder):
    (folder / "arc.yaml").write_text(
        "task: arc\ndataset_path: allenai/ai2_arc\ndataset_name: ARC-Easy\ntest_split: test\ntraining_split: train\n"
        "output_type: multiple_choice\ndoc_to_text: question\ndoc_to_choice: '{{choices.text}}'\n"
        "doc_to_target: '{{choices.label.index(answerKey)}}'\nprocess_docs: !function utils.f\n"
    )
    made = convert("arc", to="card", include_paths=(str(folder),))
    card = build(json.loads(made.text))
    assert card.loader.path == "allenai/ai2_arc"
    assert made.lost == ("process_docs: a card has no place for it",)


def test_a_unitxt_card_has_the_same_instances(folder, hub_dir):
    from proctor.settings import settings

    test_a_unitxt_card(folder)
    card = json.loads(convert("arc", to="card", include_paths=(str(folder),)).text)
    recipe = build({"__type__": "dataset_recipe", "card": card, "template_card_index": 0, "loader_limit": 5})
    with settings.context(hub_dir=hub_dir):
        row = next(iter(recipe()["test"]))
    data = json.loads(row["task_data"]) if isinstance(row["task_data"], str) else row["task_data"]
    assert len(data["choices"]) == 4
    assert data["question"] in row["source"]


@pytest.mark.parametrize(
    "metrics, shown",
    [
        ("", "tasks.qa.open[metrics=[lm_eval:exact_match]]"),
        ("metric_list:\n  - metric: bleu\n  - metric: metrics.rouge\n", "metrics=[lm_eval:bleu,metrics.rouge]"),
        ("metric_list:\n  - metric: exact_match\n    regexes_to_ignore: [',']\n", "{'regexes_to_ignore': [',']}"),
    ],
)
def test_a_unitxt_card_keeps_the_metrics(folder, metrics, shown):
    (folder / "open.yaml").write_text(
        "task: open\ndataset_path: x/y\ntest_split: test\noutput_type: generate_until\n"
        f"doc_to_text: question\ndoc_to_target: answer\n{metrics}"
    )
    made = convert("open", to="card", include_paths=(str(folder),))
    data = json.loads(made.text)
    assert shown in str(data["task"])
    metrics = expand_metrics(build(data).task.metric_names)
    assert metrics[0].main_score in ("exact_match", "bleu")
    assert not made.lost


def test_metrics_that_a_unitxt_card_cannot_have_are_named(folder):
    (folder / "open.yaml").write_text(
        "task: open\ndataset_path: x/y\ntest_split: test\noutput_type: multiple_choice\ndoc_to_text: question\n"
        "doc_to_choice: choices\ndoc_to_target: answer\nmetric_list:\n  - metric: acc\n  - metric: acc_norm\n"
    )
    made = convert("open", to="card", include_paths=(str(folder),))
    assert [each.partition(":")[0] for each in made.lost] == ["metric acc_norm"]


def test_fields_that_are_more_than_paths_are_named(folder):
    (folder / "u.yaml").write_text(
        "task: u\ninclude: t.yaml\ndoc_to_text: 'So: {{q|upper}}'\ndoc_to_choice: [a, b]\ndoc_to_target: 1\n"
    )
    made = convert("u", to="card", include_paths=(str(folder),))
    assert any("'So: {{q|upper}}' is more than a path" in each for each in made.lost)
    assert {"__type__": "set", "fields": {"choices": ["a", "b"]}} in json.loads(made.text)["preprocess_steps"]


def test_texts_around_fields_and_lists_of_labels_become_operators(folder):
    (folder / "u.yaml").write_text(
        "task: u\ninclude: t.yaml\ndoc_to_text: 'So: {{choices.text[0]}} {x}'\n"
        "doc_to_target: \"{{['A', 'B', 'C'].index(key)}}\"\n"
    )
    made = convert("u", to="card", include_paths=(str(folder),))
    steps = json.loads(made.text)["preprocess_steps"]
    assert {"__type__": "format_text", "to_field": "question", "text": "So: {choices[text][0]} {{x}}"} in steps
    assert {"__type__": "set", "fields": {"answer_labels": ["A", "B", "C"]}} in steps
    assert not made.lost


@pytest.mark.parametrize("spec", ["{{q|upper}}", "{% if q %}x{% endif %}", "{{ q ~ 'x' }}", "{{ choices['a b'] }}"])
def test_templates_that_compute_are_named(folder, spec):
    (folder / "u.yaml").write_text(f'task: u\ninclude: t.yaml\ndoc_to_text: "{spec}"\n')
    made = convert("u", to="card", include_paths=(str(folder),))
    assert [each for each in made.lost if each.startswith("doc_to_text")]


def test_a_recipe_becomes_a_task_of_lm_eval(folder):
    card = folder / "my-card.json"
    rows = [{"question": "Q?", "answers": ["A"]}]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    loader = {"__type__": "load_json_file", "files": {"test": str(folder / "rows.jsonl")}, "lines": True}
    content = {"__type__": "task_card", "loader": loader, "task": "tasks.qa.open", "templates": "templates.qa.open.all"}
    card.write_text(json.dumps(content))
    recipe = f"card={card},template_card_index=0"
    made = convert(recipe, to="lm-eval")
    assert made.text.splitlines()[:2] == [
        "task: my_card",
        "class: !function 'proctor.integrations.lm_eval.ProctorTask'",
    ]
    assert "they are the recipe's own" in made.lost[0]
    (folder / "back.yaml").write_text(made.text)
    (exam,) = resolve([str(folder / "back.yaml")])
    (own,) = resolve_task(recipe, ExamOptions())
    assert [each.requests for each in exam.questions()] == [each.requests for each in own.questions()]
    with pytest.raises(UsageError, match="--to lm-eval"):
        convert(recipe, to="card")


def test_bad_requests(folder):
    (folder / "g.yaml").write_text("group: g\ntask: [t]\n")
    with pytest.raises(UsageError, match="not a single task"):
        convert("g", include_paths=(str(folder),))
    with pytest.raises(UsageError, match="no form 'car'"):
        convert("t", to="car", include_paths=(str(folder),))
    (folder / "p.yaml").write_text(
        "task: p\ndataset_path: d\noutput_type: loglikelihood_rolling\ndoc_to_text: ''\ndoc_to_target: x\n"
    )
    with pytest.raises(UsageError, match="not a Unitxt card"):
        convert("p", to="card", include_paths=(str(folder),))


class TestFilesOfRows:
    """Rows that a task reads from files are found from wherever the converted task stands."""

    @pytest.fixture
    def task(self, tmp_path, monkeypatch):
        folder = tmp_path / "tasks"
        folder.mkdir()
        (folder / "rows.jsonl").write_text('{"q": "Q?", "c": ["a", "b"], "a": 1}\n')
        (folder / "mine.yaml").write_text(
            "task: mine\ndataset_path: json\ndataset_kwargs:\n  data_files: {test: rows.jsonl}\n  field: x\n"
            "test_split: test\noutput_type: multiple_choice\ndoc_to_text: q\ndoc_to_choice: c\ndoc_to_target: a\n"
        )
        monkeypatch.chdir(tmp_path)
        return folder / "mine.yaml"

    @pytest.mark.parametrize("to", ["proctor", "lm-eval"])
    def test_of_a_task(self, task, to):
        made = yaml.safe_load(convert(str(task), to=to).text)
        assert made["dataset_kwargs"]["data_files"] == {"test": str(task.parent / "rows.jsonl")}

    def test_of_a_card(self, task):
        made = convert(str(task), to="card")
        loader = json.loads(made.text)["loader"]
        files = {"test": str(task.parent / "rows.jsonl")}
        assert loader == {"__type__": "load_hf", "path": "json", "data_files": files}
        assert "dataset_kwargs.field: the loader of a card has no such argument" in made.lost
