"""Task files that mean nothing: each gives messages of ours, nothing that a terminal obeys, and costs next to nothing."""

import json
import time
import unicodedata

import pytest
from tests_pace import in_time

from proctor.cli.error_reporting import INTERNAL

base = (
    "task: t\ndataset_path: json\ndataset_kwargs:\n  data_files: {test: d.jsonl}\n"
    "test_split: test\noutput_type: generate_until\n"
)
CASES = {
    "ok": base + 'doc_to_text: "{{q}}"\ndoc_to_target: a\n',
    "name": base.replace("task: t", 'task: "t\\e[31m\\u202e"') + 'doc_to_text: "{{q}}"\ndoc_to_target: a\n',
    "missing": base + 'doc_to_text: "{{nope\u202e}}"\ndoc_to_target: a\n',
    "badkey": base + '"ke\\e[31my": 1\ndoc_to_text: q\ndoc_to_target: a\n',
    "numkey": base + "1: 2\nnull: 3\ntrue: 4\n2001-01-01: 5\ndoc_to_text: q\ndoc_to_target: a\n",
    "types": "task: 5\ndataset_path: [a]\ntest_split: {a: b}\ndoc_to_text: 2001-01-01\n",
    "types2": base
    + "doc_to_text: [1]\ndoc_to_target: {a: !!set {b}}\ngeneration_kwargs: !!set {a}\nmetric_list: x\nfilter_list: 5\n",
    "gen": base
    + "doc_to_text: q\ndoc_to_target: a\ngeneration_kwargs: {until: [1, null, [2]], max_gen_toks: 1e999, temperature: .nan}\n",
    "gen2": base
    + 'doc_to_text: q\ndoc_to_target: a\ngeneration_kwargs: {until: "\\e[31m", max_gen_toks: .inf}\nrepeats: .nan\nnum_fewshot: .inf\n',
    "meta": base
    + "doc_to_text: q\ndoc_to_target: a\nmetadata: {version: .nan, 1: 2001-01-01, x: !!binary aGk=, y: !!set {a}}\n",
    "filt": base
    + 'doc_to_text: q\ndoc_to_target: a\nfilter_list: [{name: "\\e[31m", filter: [{function: regex, regex_pattern: "(a|a)*b("}]}]\n',
    "fk": base
    + "doc_to_text: q\ndoc_to_target: a\nfilter_list: [{name: x, filter: [{function: regex, group_select: .nan, regex_pattern: !!binary aGk=}]}]\n",
    "metric": base + 'doc_to_text: q\ndoc_to_target: a\nmetric_list: [{metric: "exact\\e[31m", aggregation: 5}]\n',
    "utils": base + 'doc_to_text: !function "ut\\e[31mils.x"\ndoc_to_target: a\n',
    "group": "group: g\ntask: [t, {task: &a [*a]}]\n",
    "group2": "group: g\ntask: [5, null, [x], {task: 5}, 2001-01-01]\n",
    "children": "group: g\nchildren: {1: {2: 3}, x: [y], z: null}\n",
    "tl": base + "task_list: [1, null, {task: 5}, {task: x, doc_to_text: !x [y]}]\n",
    "split": base.replace("test_split: test", 'test_split: "\\e[31m"') + "doc_to_text: q\ndoc_to_target: a\n",
    "few": base
    + 'doc_to_text: q\ndoc_to_target: a\nnum_fewshot: 2\nfewshot_config: {sampler: first_n, samples: [{q: "\\e[31m", a: 1}, 5, null]}\n',
    "few2": base + "doc_to_text: q\ndoc_to_target: a\nnum_fewshot: 99999999999999999999\n",
    "desc": base + "doc_to_text: q\ndoc_to_target: a\ndescription: \"{{ 'a' * 10**9 }}\"\n",
    "tmpl": base + "doc_to_text: q\ndoc_to_target: a\ntemplate: {template_type: mcq, question: !!set {a}, x: *n}\n",
    "tmpl2": base + "template: {template_type: mcq, context: 5, choice_labels: .nan}\n",
    "delim": base + "doc_to_text: q\ndoc_to_target: a\ntarget_delimiter: [1]\nfewshot_delimiter: {a: 1}\n",
    "kw": base.replace("data_files: {test: d.jsonl}", "data_files: {test: [1, null]}")
    + "doc_to_text: q\ndoc_to_target: a\n",
    "kw2": base.replace("data_files: {test: d.jsonl}", 'data_files: {test: "\\e[31m\\u202e.jsonl"}')
    + "doc_to_text: q\ndoc_to_target: a\n",
    "long": base + 'doc_to_text: "' + "{{ q }}" * 5000 + '"\ndoc_to_target: a\n',
    "recipe": 'task: t\nrecipe: "card=cards.x\\e[31m,template=[[[[["\ninclude: unitxt\n',
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = [{"q": f"x\x1b[31m\u202e\x9b \u061c{number}", "a": "1", "deep": [1]} for number in range(3)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_each_ends_in_words(invoke, folder, name):
    (folder / "t.yaml").write_text(CASES[name])
    run = ("run", "--model", "dummy", "--tasks", "t.yaml", "--output", "out", "--limit", "2")
    for command in (("show", "t.yaml"), ("show", "t.yaml", "--steps"), ("validate", "t.yaml"), run):
        started = time.process_time()
        code, out, err = invoke(*command)
        assert in_time(time.process_time() - started, 5)  # the first of all imports a library
        assert code in (0, 1, 2), err
        assert code != INTERNAL
        assert code == 0 or err.count("error:") + err.count("warning:") <= 10
        obeyed = {hex(ord(each)) for each in out + err if unicodedata.category(each) in ("Cc", "Cf", "Cs")}
        assert obeyed <= {"0xa", "0x9"}


def test_rows_are_shown_visibly(invoke, folder):
    (folder / "t.yaml").write_text(CASES["ok"])
    _, out, _ = invoke("show", "t.yaml")
    assert "x␛[31m\\u202e\\x9b \\u061c0" in out
    _, out, _ = invoke("show", "t.yaml", "--json")
    assert json.loads(out)["prompt"] == "x\x1b[31m\u202e\x9b \u061c0"
    assert not [each for each in out if unicodedata.category(each) == "Cf"]
