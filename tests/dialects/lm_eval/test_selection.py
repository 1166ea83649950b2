"""The task lists, groups and addresses of the proposal (seed 003)."""

import pytest

from proctor.dialects.lm_eval.reader import TaskFileError
from proctor.dialects.lm_eval.resolve import resolve_name
from proctor.dialects.lm_eval.selection import TaskFinder
from proctor.dialects.lm_eval.tree import Group, Leaf
from proctor.errors import ProctorError, UnknownArtifactError, UsageError, ValidationError
from proctor.recipes.options import ExamOptions

TASK = "dataset_path: d\noutput_type: multiple_choice\ntest_split: test\ndoc_to_text: q\ndoc_to_choice: c\ndoc_to_target: a\n"


@pytest.fixture
def folder(tmp_path):
    files = {
        "arc.yaml": f"task: arc_easy\ntag: [ai2_arc]\n{TASK}",
        "arc2.yaml": f"task: arc_challenge\ntag: ai2_arc\n{TASK}",
        "hellaswag.yaml": "task_list:\n  - task: hellaswag_en\n    dataset_name: en\n  - task: hellaswag_es\n"
        f"    dataset_name: es\n    num_fewshot: 5\n    tag: spanish\ntag: hellaswag_multilingual\nmetadata: {{version: 1}}\n{TASK}",
        "base_task.yaml": f"task: base\n{TASK}",
        "shots.yaml": "include: base_task.yaml\n\ntask_list:\n  - task: arc_0shot\n    num_fewshot: 0\n"
        "  - task: arc_5shot\n    num_fewshot: 5\n  - task: arc_25shot\n    num_fewshot: 25\n",
        "mmlu.yaml": "group: mmlu\ntask: [mmlu_stem, mmlu_other]\naggregate_metric_list: {metric: acc}\n",
        "stem.yaml": "group: mmlu_stem\ntask: [arc_easy]\nnum_fewshot: 3\n",
        "other.yaml": "group: mmlu_other\ntask:\n  - task: arc_challenge\n    num_fewshot: 7\n  - task: fresh\n    dataset_path: e\n",
        "bench.yaml": "group: my_benchmark\nchildren:\n  easy:\n    dataset_path: my_org/benchmark\n    dataset_name: easy\n"
        "    template: mmlu\n    doc_to_text: '{{question}}'\n  hard:\n    dataset_path: my_org/benchmark\n    dataset_name: hard\n"
        "    template: mmlu\n    doc_to_text: '{{question}}'\naggregate_metric_list:\n  - metric: acc\n    weight_by_size: true\n",
        "nested.yaml": "group: nested_group\ntarget_delimiter: ':'\nchildren:\n  subgroup_a:\n    children:\n      task_1: {dataset_path: json}\n"
        "      task_2: {dataset_path: json, target_delimiter: ''}\n  subgroup_b:\n    repeats: 2\n    children:\n      task_3: {dataset_path: json}\n",
        "suite.yaml": "group: my_suite\nchildren:\n  custom_task: {dataset_path: d}\n  arc: {ref: arc_easy, num_fewshot: 9}\n"
        "  m: {ref: mmlu}\n  arc_tasks: {tag: ai2_arc}\n  inc: {include: base_task.yaml, num_fewshot: 1}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def find(folder):
    def run(spec, **options):
        return TaskFinder([folder], installed=False, **options).find(spec)

    return run


def leaves(members):
    return [leaf for member in members for leaf in ([member] if isinstance(member, Leaf) else member.leaves())]


def names(members):
    return [leaf.name for leaf in leaves(members)]


class TestTaskList:
    def test_tasks_are_regular_tasks(self, find):
        (leaf,) = find("hellaswag_es")
        assert leaf.values["dataset_name"] == "es"
        assert leaf.values["num_fewshot"] == 5
        assert leaf.values["dataset_path"] == "d"
        assert leaf.values["metadata"] == {"version": 1}

    def test_tags_are_united(self, find):
        assert names(find("hellaswag_multilingual")) == ["hellaswag_en", "hellaswag_es"]
        assert names(find("spanish")) == ["hellaswag_es"]

    def test_with_include(self, find):
        assert [leaf.values["num_fewshot"] for leaf in leaves([*find("arc_0shot"), *find("arc_25shot")])] == [0, 25]

    def test_a_whole_file(self, find, folder):
        assert names(find(str(folder / "shots.yaml"))) == ["arc_0shot", "arc_5shot", "arc_25shot"]

    def test_duplicate_names_with_both_places(self, find, folder):
        (folder / "twice.yaml").write_text(f"task_list:\n  - task: t\n  - task: t\n{TASK}")
        with pytest.raises(ValidationError, match="task_list names 't' twice") as caught:
            find("t")
        assert "twice.yaml:3:5" in str(caught.value)
        assert "twice.yaml:2:5" in str(caught.value)


class TestGroups:
    def test_members_and_overrides(self, find):
        (group,) = find("mmlu")
        assert names([group]) == ["arc_easy", "arc_challenge", "mmlu_other::fresh"]
        shots = {leaf.name: leaf.values.get("num_fewshot") for leaf in group.leaves()}
        assert shots == {"arc_easy": 3, "arc_challenge": 7, "mmlu_other::fresh": None}
        assert group.metrics[0].metric == "acc"
        assert [each.name for each in group.groups()] == ["mmlu", "mmlu_stem", "mmlu_other"]

    def test_tags_expand(self, find):
        assert names(find("ai2_arc")) == ["arc_challenge", "arc_easy"]

    def test_globs(self, find):
        assert names(find("arc_*")) == ["arc_0shot", "arc_25shot", "arc_5shot", "arc_challenge", "arc_easy"]
        with pytest.raises(UnknownArtifactError, match="matches 'x\\*'"):
            find("x*")

    def test_a_group_that_contains_itself(self, find, folder):
        (folder / "loop.yaml").write_text("group: loop\ntask: [loop2]\n")
        (folder / "loop2.yaml").write_text("group: loop2\ntask: [loop]\n")
        with pytest.raises(ValidationError, match="contains itself") as caught:
            find("loop")
        assert "loop → loop2 → loop" in str(caught.value)

    def test_a_child_that_refers_to_its_own_group(self, find, folder):
        (folder / "loop.yaml").write_text("group: loop\nchildren: {x: {ref: loop}}\n")
        with pytest.raises(ValidationError, match="contains itself"):
            find("loop")

    def test_a_member_that_is_nothing(self, find, folder):
        (folder / "bad.yaml").write_text("group: bad\ntask:\n  - arc_esy\n")
        with pytest.raises(UnknownArtifactError, match="'arc_esy', which is not a task") as caught:
            find("bad")
        assert "did you mean 'arc_easy'" in str(caught.value)
        assert "bad.yaml:2:1" in str(caught.value)

    def test_a_second_file_that_says_the_same_changes_nothing(self, find, folder):
        (folder / "copy.yaml").write_text((folder / "arc.yaml").read_text())
        assert names(find("ai2_arc")) == ["arc_challenge", "arc_easy"]

    def test_two_files_with_one_name(self, find, folder):
        (folder / "zz.yaml").write_text("task: arc_easy\n")
        with pytest.raises(ValidationError, match="two files define 'arc_easy'") as caught:
            find("arc_easy")
        assert "zz.yaml" in str(caught.value)
        assert "arc.yaml" in str(caught.value)


class TestChildren:
    def test_run_all_or_one(self, find):
        assert names(find("my_benchmark")) == ["my_benchmark::easy", "my_benchmark::hard"]
        (leaf,) = find("my_benchmark::easy")
        assert leaf.values["dataset_name"] == "easy"
        assert names(find("my_benchmark::hard")) == ["my_benchmark::hard"]

    def test_nesting_and_full_paths(self, find):
        paths = [
            "nested_group::subgroup_a::task_1",
            "nested_group::subgroup_a::task_2",
            "nested_group::subgroup_b::task_3",
        ]
        assert names(find("nested_group")) == paths
        assert names(find("nested_group::subgroup_a")) == paths[:2]
        assert names(find(paths[2])) == paths[2:]

    def test_keys_of_groups_are_defaults_of_their_children(self, find):
        for spec in ("nested_group", "nested_group::subgroup_a", "nested_group::subgroup_a::task_1"):
            leaf = leaves(find(spec))[0]
            assert leaf.values["target_delimiter"] == ":"
        (leaf,) = find("nested_group::subgroup_a::task_2")
        assert leaf.values["target_delimiter"] == ""
        (leaf,) = find("nested_group::subgroup_b::task_3")
        assert (leaf.values["target_delimiter"], leaf.values["repeats"]) == (":", 2)

    def test_references_keep_their_own_name_as_an_alias(self, find):
        (leaf,) = find("my_suite::arc")
        assert (leaf.name, leaf.alias, leaf.values["num_fewshot"]) == ("my_suite::arc", "arc_easy", 9)

    def test_the_whole_suite(self, find):
        assert names(find("my_suite")) == [
            "my_suite::custom_task",
            "my_suite::arc",
            "my_suite::m::mmlu_stem::arc_easy",
            "my_suite::m::mmlu_other::arc_challenge",
            "my_suite::m::mmlu_other::fresh",
            "my_suite::arc_tasks::arc_challenge",
            "my_suite::arc_tasks::arc_easy",
            "my_suite::inc",
        ]

    def test_descending_through_references_and_groups(self, find):
        assert names(find("mmlu::stem")) == ["arc_easy"]
        assert names(find("mmlu::mmlu_stem::arc_easy")) == ["arc_easy"]
        assert names(find("my_suite::m::stem")) == ["my_suite::m::mmlu_stem::arc_easy"]
        assert names(find("my_suite::arc_tasks::arc_easy")) == ["my_suite::arc_tasks::arc_easy"]

    def test_include_inside_a_child(self, find):
        (leaf,) = find("my_suite::inc")
        assert (leaf.values["dataset_path"], leaf.values["num_fewshot"]) == ("d", 1)

    def test_a_member_that_is_not_there(self, find):
        with pytest.raises(UnknownArtifactError, match="has no member 'esy'") as caught:
            find("my_benchmark::esy")
        assert "did you mean 'easy'" in str(caught.value)
        with pytest.raises(UnknownArtifactError, match="is a task, so it has no 'x'"):
            find("my_benchmark::easy::x")

    def test_a_reference_to_nothing(self, find, folder):
        (folder / "bad.yaml").write_text("group: bad\nchildren:\n  x: {ref: nothing}\n  y: 3\n")
        with pytest.raises(ValidationError, match="'bad::x' refers to 'nothing'"):
            find("bad")


class TestTemplates:
    def test_a_template_for_a_task_a_group_and_a_path(self, find):
        (leaf,) = find("arc_easy@cloze")
        assert (leaf.name, leaf.template) == ("arc_easy@cloze", "cloze")
        assert names(find("mmlu::stem@cloze")) == ["arc_easy@cloze"]
        assert all(leaf.template == "cloze" for leaf in leaves(find("mmlu@cloze")))
        assert names(find("arc_*@mmlu"))[0] == "arc_0shot@mmlu"

    def test_the_option_chooses_for_every_task(self, find):
        (leaf,) = find("arc_easy", template="cloze")
        assert (leaf.name, leaf.template) == ("arc_easy@cloze", "cloze")

    def test_both_at_once(self, find):
        with pytest.raises(UsageError, match="both choose a template"):
            find("arc_easy@mmlu", template="cloze")

    def test_a_name_that_has_the_sign_in_it_wins(self, find, folder):
        (folder / "at.yaml").write_text(f"task: arc_easy@cloze\n{TASK}")
        (leaf,) = find("arc_easy@cloze")
        assert leaf.template is None


class TestPaths:
    def test_a_file_of_a_task_and_of_a_group(self, find, folder):
        assert names(find(str(folder / "arc.yaml"))) == ["arc_easy"]
        assert isinstance(find(str(folder / "mmlu.yaml"))[0], Group)

    def test_a_groups_file_finds_the_tasks_beside_it_and_says_which_is_not_there(self, folder, tmp_path):
        alone = TaskFinder(installed=False)
        assert names(alone.find(str(folder / "mmlu.yaml"))) == ["arc_easy", "arc_challenge", "mmlu_other::fresh"]
        (folder / "lost.yaml").write_text("group: lost\ntask:\n  - arc_easy\n  - nowhere\n")
        with pytest.raises(UnknownArtifactError, match="the group 'lost' lists 'nowhere'"):
            resolve_name(str(folder / "lost.yaml"), ExamOptions())

    def test_a_folder_gives_every_task_once(self, find, folder, tmp_path_factory):
        found = names(TaskFinder(installed=False).find(str(folder)))
        assert len(found) == len(set(found))
        assert {"hellaswag_en", "arc_0shot", "my_benchmark::easy"} <= set(found)
        with pytest.raises(UsageError, match="no task files"):
            find(str(tmp_path_factory.mktemp("empty")))

    def test_a_file_that_defines_nothing(self, find, folder):
        (folder / "x.yaml").write_text("a: 1\n")
        with pytest.raises(TaskFileError, match="defines no task"):
            find(str(folder / "x.yaml"))

    def test_a_name_that_is_nothing(self, find):
        with pytest.raises(UnknownArtifactError, match="no task, group or tag 'arc_esy'") as caught:
            find("arc_esy")
        assert "did you mean 'arc_easy'" in str(caught.value)


def test_the_models_arguments_reach_tasks_whose_code_may_read_them(tmp_path):
    (tmp_path / "a.yaml").write_text("task: a\ncustom_dataset: b\nmetadata: {version: 1}\n")
    (tmp_path / "b.yaml").write_text("task: b\nmetadata: {version: 1}\n")
    finder = TaskFinder([tmp_path], installed=False, metadata={"x": 1}, arguments={"x": 2, "pretrained": "m"})
    (a,), (b,) = finder.find("a"), finder.find("b")
    assert a.values["metadata"] == {"version": 1, "x": 1, "pretrained": "m"}
    assert b.values["metadata"] == {"version": 1, "x": 1}


def test_metadata_of_the_run_is_added(find):
    (leaf,) = find("hellaswag_es", metadata={"max_length": 3})
    assert leaf.config().metadata == {"version": 1, "max_length": 3}


def test_a_broken_task_names_its_file(find, folder):
    (folder / "broken.yaml").write_text("task: broken\nmetric_lst: []\n")
    (leaf,) = find("broken")
    with pytest.raises(ProctorError, match="metric_list"):
        leaf.config()


class TestFiles:
    """A file stands for what it defines, wherever it is."""

    @pytest.mark.parametrize(
        "spec, found",
        [
            ("bench.yaml", ["my_benchmark::easy", "my_benchmark::hard"]),
            ("bench.yaml@cloze", ["my_benchmark::easy@cloze", "my_benchmark::hard@cloze"]),
            ("bench.yaml::easy", ["my_benchmark::easy"]),
            ("bench.yaml::easy@cloze", ["my_benchmark::easy@cloze"]),
            ("bench.yaml::my_benchmark::easy", ["my_benchmark::easy"]),
            ("nested.yaml::subgroup_a::task_2", ["nested_group::subgroup_a::task_2"]),
            ("hellaswag.yaml::hellaswag_es", ["hellaswag_es"]),
        ],
    )
    def test_of_a_file(self, folder, tmp_path_factory, monkeypatch, spec, found):
        monkeypatch.chdir(folder)
        assert names(TaskFinder(installed=False).find(spec)) == found
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        assert names(TaskFinder(installed=False).find(f"{folder}/{spec}")) == found

    @pytest.mark.parametrize(
        "spec, message",
        [
            ("bench.yaml::esy", "has no member 'esy'"),
            ("hellaswag.yaml::hellaswag_e", "the file 'hellaswag.yaml' defines no 'hellaswag_e'"),
            ("arc.yaml::arc_easi", "the file 'arc.yaml' defines no 'arc_easi'"),
        ],
    )
    def test_what_a_file_lacks(self, folder, monkeypatch, spec, message):
        monkeypatch.chdir(folder)
        with pytest.raises(UnknownArtifactError, match=message) as caught:
            TaskFinder(installed=False).find(spec)
        assert "did you mean" in str(caught.value)


@pytest.mark.parametrize("template", ["cloze", "mcq::gpqa"])
@pytest.mark.parametrize(
    "spec", ["my_suite", "my_suite::arc", "my_suite::arc_tasks::arc_easy", "my_suite::m::stem", "bench.yaml::easy"]
)
def test_a_template_for_all_names_tasks_like_one_behind_an_at(folder, monkeypatch, spec, template):
    monkeypatch.chdir(folder)
    for_all = TaskFinder([folder], installed=False, template=template).find(spec)
    behind = TaskFinder([folder], installed=False).find(f"{spec}@{template}")
    assert names(for_all) == names(behind)
    assert all(name.endswith(f"@{template}") for name in names(for_all))
    assert [each.name for each in for_all] == [each.name for each in behind]


def test_everything_that_is_wrong_with_children_at_once(folder):
    (folder / "wrong.yaml").write_text(
        "group: wrong\nchildren:\n  a: {ref: arc_esy}\n  b: 5\n  c:\n    children:\n      d: {tag: ai2_ark}\n"
        "      e: {dataset_path: d, tag: mine}\naggregate_metric_list:\n  - metrc: acc\n"
    )
    with pytest.raises(ValidationError) as caught:
        TaskFinder([folder], installed=False).find("wrong")
    found = [(each.what, each.location.line, each.hint) for each in caught.value.diagnostics]
    assert found == [
        ("an entry names no metric", 10, "write - metric: acc"),
        (
            "'wrong::a' refers to 'arc_esy', which is not a task, group or tag",
            3,
            "did you mean 'arc_easy' or 'arc_5shot' or 'arc_0shot'?",
        ),
        ("the child 'wrong::b' is 5", 4, "a child is a task, ref:, tag: or children:"),
        ("'wrong::c::d' takes the tag 'ai2_ark', which no task has", 7, "did you mean 'ai2_arc'?"),
    ]


def test_a_task_list_that_is_none(tmp_path):
    (tmp_path / "x.yaml").write_text("dataset_path: d\ntask_list:\n  a: {num_fewshot: 1}\n")
    with pytest.raises(ValidationError, match=r"task_list is a dict, not a list \(.*x.yaml:2:1 @ \$.task_list\)"):
        TaskFinder(installed=False).find(str(tmp_path / "x.yaml"))


def test_a_child_whose_key_is_a_number_is_found(tmp_path):
    (tmp_path / "x.yaml").write_text("group: g\nchildren:\n  1: {dataset_path: d, doc_to_text: q}\n")
    (leaf,) = TaskFinder([str(tmp_path)], installed=False).find("g::1")
    assert leaf.name == "g::1"


@pytest.mark.parametrize(
    "child, message",
    [
        ("{ref: t, tag: tt}", "the child 'g::x' has 'ref' and 'tag'"),
        ("{ref: t, children: {y: {ref: t}}}", "'ref' and 'children'"),
        ("{ref: [t]}", "'ref' takes text, got list"),
        ("{ref: t, num_fewshto: 0}", "there is no key 'num_fewshto'"),
        ("{dataset_path: d, task: other}", "its name from its key, and 'task' says 'other'"),
        ("{dataset_path: d, task_list: [{task: q}]}", "has a task_list"),
        (
            "{children: {y: {ref: t}}, aggregate_metric_list: [{metric: acc, weight_by_size: 'no'}]}",
            "weight_by_size is the text 'no'",
        ),
    ],
)
def test_what_a_child_says_is_heard_or_refused_by_the_group_and_by_the_path(tmp_path, child, message):
    (tmp_path / "t.yaml").write_text("task: t\ntag: tt\ndataset_path: d\n")
    (tmp_path / "x.yaml").write_text(f"group: g\nchildren:\n  x: {child}\n")
    for spec in ("g", "g::x"):
        with pytest.raises(ValidationError) as caught:
            TaskFinder([str(tmp_path)], installed=False).find(spec)
        assert message in str(caught.value), spec
        assert "x.yaml:3:" in str(caught.value), spec


def test_two_children_of_one_name_are_refused(tmp_path):
    (tmp_path / "x.yaml").write_text("group: g\nchildren:\n  x: {dataset_path: a}\n  x: {dataset_path: a}\n")
    with pytest.raises(ValidationError, match=r"the child 'x' is there twice \(.*x.yaml:4:3"):
        TaskFinder([str(tmp_path)], installed=False).find("g")


@pytest.mark.parametrize("key", ["include: base", "task_list: [{task: w}]", "children: {}"])
def test_an_entry_of_a_task_list_says_what_a_task_says(tmp_path, key):
    (tmp_path / "base").write_text("description: D\n")
    (tmp_path / "x.yaml").write_text(f"dataset_path: d\ntask_list:\n  - task: v\n    {key}\n")
    with pytest.raises(ValidationError, match=r"the entry 'v' of task_list has .*x.yaml:4:5"):
        TaskFinder([str(tmp_path)], installed=False).find("v")


@pytest.mark.parametrize(
    "spec, message",
    [
        ("g::", "nothing is named behind 'g::'"),
        ("g::@cloze", "nothing is named behind 'g::'"),
        ("tt::t", "'tt' is a tag, not a group"),
        ("t@cloze@mmlu", "chooses 'cloze' and 'mmlu'"),
    ],
)
def test_names_that_mean_less_than_they_say(tmp_path, spec, message):
    (tmp_path / "t.yaml").write_text("task: t\ntag: tt\ndataset_path: d\n")
    (tmp_path / "u.yaml").write_text("task: u\ntag: tt\ndataset_path: d\n")
    (tmp_path / "g.yaml").write_text("group: g\ntask: [t, u]\n")
    with pytest.raises((UsageError, UnknownArtifactError), match=message):
        TaskFinder([str(tmp_path)], installed=False).find(spec)


def test_a_pattern_of_files_is_all_of_them(tmp_path, monkeypatch):
    for name in ("a1", "a2", "b1"):
        (tmp_path / f"{name}.yaml").write_text(f"task: {name}\ndataset_path: d\n")
    monkeypatch.chdir(tmp_path)
    for spec in ("a*.yaml", f"{tmp_path}/a?.yaml"):
        found = TaskFinder(installed=False).find(spec)
        assert [leaf.name for leaf in found] == ["a1", "a2"]
