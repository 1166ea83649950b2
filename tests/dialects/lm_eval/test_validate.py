import pytest

from proctor.dialects.lm_eval.validate import validate

GOOD = "dataset_path: d\ntest_split: test\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"


@pytest.fixture
def check(tmp_path):
    def run(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_yaml", ".yaml")).write_text(text)
        return [str(each) for each in validate(tmp_path, installed=False)[1]]

    return run


def test_nothing_is_wrong(check, tmp_path):
    assert (
        check(a_yaml=f"task: a\n{GOOD}", g_yaml="group: g\ntask: [a]\n", l_yaml=f"task_list: [{{task: x}}, y]\n{GOOD}")
        == []
    )
    assert len(validate(tmp_path)[0]) == 3


def test_every_problem_of_every_file_with_its_place(check):
    found = check(
        a_yaml=f"task: a\n{GOOD}num_fewsht: 3\n",
        b_yaml=f"task: b\n{GOOD}include: nowhere\n",
        c_yaml="task: c\nx: [\n",
        d_yaml=f"task: d\n{GOOD}metric_list: [{{metric: acuracy}}, {{metric: acc, aggregation: meen}}]\n",
        e_yaml=f"task: e\n{GOOD}filter_list: [{{name: f, filter: [{{function: regx}}]}}]\n",
        f_yaml=f"task: f\n{GOOD}description: '{{{{q'\n",
        g_yaml="group: g\ntask: [g]\n",
        h_yaml="group: h\ntask: [nothing]\n",
        i_yaml="task: i\noutput_type: multiple_choice\n",
        j_yaml=f"task: j\n{GOOD}template: mmlo\n",
        k_yaml=f"task: a\n{GOOD}",
        l_yaml=f"task_list: [{{task: x}}, {{task: x}}]\n{GOOD}",
        m_yaml=f"task: m\n{GOOD}process_docs: !function utils.nope\n",
        utils_py="",
    )
    text = "\n".join(found)
    for part in (
        "did you mean 'num_fewshot'",
        "a.yaml:6:1",
        "nowhere' is missing",
        "c.yaml",
        "there is no metric 'acuracy'",
        "did you mean 'accuracy'",
        "there is no aggregation 'meen'",
        "there is no filter 'regx'",
        "does not parse",
        "contains itself",
        "'nothing', which is not a task",
        "needs doc_to_choice",
        "names neither test_split nor validation_split",
        "names no dataset_path",
        "there is no template 'mmlo'",
        "two files define 'a'",
        "task_list names 'x' twice",
    ):
        assert part in text, part


def test_a_function_that_is_not_in_its_file(check, tmp_path):
    (tmp_path / "utils.py").write_text("def other(): raise SystemExit\n")
    (found,) = check(m_yaml=f"task: m\n{GOOD}process_docs: !function utils.nope\n")
    assert "has no 'nope'" in found
    assert "m.yaml:6:15" in found


def test_children_are_checked_too(check):
    found = check(g_yaml="group: g\nchildren:\n  x: {dataset_path: d, metric_lst: []}\n")
    assert "did you mean 'metric_list'" in found[0]


def test_one_file(tmp_path):
    (tmp_path / "a.yaml").write_text(f"task: a\n{GOOD}x: 1\n")
    (tmp_path / "b.yaml").write_text(f"task: b\n{GOOD}x: 1\n")
    assert len(validate(tmp_path / "a.yaml", installed=False)[1]) == 1


def test_files_that_were_to_define_something_say_why_they_do_not(check):
    found = check(
        a_yaml=f"task_lst: [{{task: a}}]\n{GOOD}",
        b_yaml=f"task_list: {{task: b}}\n{GOOD}",
        c_yaml=f"task_list: []\n{GOOD}",
        d_yaml="children: {x: {ref: e}}\n",
        e_yaml=f"task: e\n{GOOD}doc_to_text: Q\n",
        f_yaml=GOOD,
    )
    assert [each.partition(" (")[0] for each in found] == [
        "there is no key 'task_lst'",
        "task_list is a dict, not a list",
        "task_list is empty",
        "the file has children, and names no group",
        "the key 'doc_to_text' is there twice",
    ]
    assert "e.yaml:6:1" in found[4]


def test_entries_of_a_task_list_have_their_own_places_and_the_files(check):
    own = check(a_yaml=f"{GOOD}task_list:\n  - task: a\n    num_fewshots: 1\n")
    assert "a.yaml:7:5" in own[0]
    common = check(a_yaml=f"{GOOD}num_fewshots: 1\ntask_list:\n  - task: a\n")
    assert "a.yaml:5:1" in common[0]


def test_switches_of_metrics_are_switches(check):
    (found,) = check(a_yaml=f"task: a\n{GOOD}metric_list: [{{metric: acc, higher_is_better: 'no'}}]\n")
    assert "'higher_is_better' takes true or false, got str 'no'" in found


def test_labels_tell_choices_apart(check):
    template = "template: {template_type: mcq, choice_labels: [A, A]}\n"
    (found,) = check(a_yaml=f"task: a\n{GOOD}doc_to_choice: c\noutput_type: multiple_choice\n{template}")
    assert "two choices have the label 'A'" in found
