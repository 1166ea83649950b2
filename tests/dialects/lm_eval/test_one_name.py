"""Results are filed by an exam's name: two different exams of one name are never taken for one."""

import pytest

from proctor.dialects.lm_eval.resolve import resolve
from proctor.errors import UsageError
from proctor.recipes.options import ExamOptions

FILES = {
    "t.yaml": 'task: t\ntag: both\ndataset_path: json\ndescription: "plain "\ntest_split: test\n'
    'dataset_kwargs: {data_files: {test: rows.jsonl}}\ndoc_to_text: "{{q}}"\ndoc_to_target: "{{a}}"\n',
    "changed.yaml": 'group: changed\ntask: [{task: t, description: "changed "}]\n',
    "suite.yaml": "group: suite\ntask: [changed, both]\n",
    "twice.yaml": "group: twice\ntask: [both, t]\n",
    "rows.jsonl": '{"q": "1+1", "a": "2"}\n',
}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return the first prompt of each exam that names mean, by the exam's name."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def ask(*names):
        exams = resolve(list(names), (str(tmp_path),), ExamOptions())
        return {
            each.name: (next(each.questions()).requests[0].prompt.payload, [group.name for group in each.groups])
            for each in exams
        }

    return ask


def test_of_one_name_in_a_suite_the_later_counts_and_that_is_said(asked, heard):
    assert asked("suite") == {"t": ("plain 1+1", ["suite", "changed"])}
    assert "suite → t: an earlier member is a different exam of the same name" in heard.text


def test_one_exam_that_is_in_a_suite_twice_is_asked_once(asked, heard):
    assert asked("twice") == {"t": ("plain 1+1", ["twice"])}
    assert "different exam" not in heard.text


@pytest.mark.parametrize("names", [("changed", "t"), ("t", "changed")])
def test_of_two_names_none_is_chosen(asked, names):
    with pytest.raises(UsageError, match="different exams"):
        asked(*names)
