from __future__ import annotations

import base64
import json
import pickle
import sys
import types
import zipfile
import zlib
from pathlib import Path

import pytest

from proctor.dialects.aisbench.datasets import dataset_splits, upstream_texts
from proctor.dialects.aisbench.datasets.dataset_specs import spec_of
from proctor.dialects.aisbench.datasets.generators import tokens
from proctor.dialects.aisbench.datasets.rows_code import packed_text
from proctor.dialects.aisbench.evaluators import is_known
from proctor.dialects.aisbench.values import Reference
from proctor.errors import DataError, DatasetNotFoundError, MissingExtraError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def write(name: str, content) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".jsonl"):
        content = "".join(json.dumps(row) + "\n" for row in content)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def splits(kind: str, **arguments) -> dict[str, list]:
    found = dataset_splits({"type": Reference(f"opencompass.datasets.{kind}"), **arguments})
    return {name: list(read()) for name, read in found.items()}


# -- files and folders --------------------------------------------------------------------------------------------


def test_texts_and_labels_of_two_tables(tmp_path):
    write("t.csv", "1,hola,es\n2,salut,fr\n3,adieu,fr\n")
    write("l.csv", "1,0\n2,1\n3,0\n")
    found = splits("JigsawMultilingualDataset", path="t.csv", label="l.csv", lang="fr")["test"]
    assert [(row["idx"], row["text"], row["label"]) for row in found] == [(0, "salut", 1), (1, "adieu", 0)]
    write("l.csv", "1,0\n3,1\n2,0\n")
    with pytest.raises(DataError, match="the label of '2' is missing"):
        splits("JigsawMultilingualDataset", path="t.csv", label="l.csv", lang="fr")


def test_reports_stories_and_documents_stand_in_the_rows():
    write("g/gov-report/split_ids/crs_train.ids", "R1\n")
    write("g/gov-report/split_ids/crs_valid.ids", "")
    write("g/gov-report/split_ids/crs_test.ids", "R2\n")
    sections = [{"section_title": None, "paragraphs": ["a", "b"]}, {"section_title": "T", "paragraphs": ["c"]}]
    for name in ("R1", "R2"):
        write(
            f"g/gov-report/crs/{name}.json",
            {"title": name, "reports": {"subsections": sections}, "summary": ["s", "t"]},
        )
    found = splits("GovRepcrsDataset", path="g")
    assert found["test"] == [{"content": "R2\n\na\nb\nT\nc", "summary": "s\nt"}]
    assert found["valid"] == []
    write("n/qaps.csv", "document_id,set,question,answer1,answer2\nd1,test,q?,a,b\nd2,test,gone?,a,b\n")
    write("n/tmp/d1.content", "story")
    assert splits("NarrativeQADataset", path="n")["test"] == [
        {"answer": ["a", "b"], "question": "q?", "evidence": "story"}
    ]


def test_all_files_of_a_folder_in_order():
    write("o/a/y.jsonl", [{"id_ddm": 1, "dialogs": [{"content": "p"}], "ground_truth": [1.0]}])
    write("o/a/x.jsonl", [{"id_ddm": 2, "dialogs": [{"content": "q"}], "ground_truth": [2.0]}])
    write("o/a/notes.txt", "no rows")
    assert [row["subset"] for row in splits("OpenSWIDataset", path="o", name="a")[""]] == ["x", "y"]
    for kind in ("fd", "tms"):
        write(f"s/SummScreen_raw/{kind}/1.json", {"Recap": [kind], "Transcript": ["a", "b"]})
    assert splits("SummScreenDataset", path="s")["dev"] == [
        {"content": "a\nb", "summary": "fd"},
        {"content": "a\nb", "summary": "tms"},
    ]


def test_rows_that_somebody_looked_for_in_training_data():
    choices = [{"text": letter, "label": letter} for letter in "ABCD"]
    write(
        "d/ARC.jsonl",
        [{"id": f"q{i}", "question": {"stem": "?", "choices": choices}, "answerKey": "B"} for i in (1, 2)],
    )
    with pytest.raises(DatasetNotFoundError, match=r"contamination_annotations(.|\n)*Contamination_Detector"):
        splits("ARCDatasetClean", path="d/ARC.jsonl", name="ARC-Challenge")
    write("d/ARC_c_test_contamination_annotations.json", {"q1": ["clean", 0]})
    found = splits("ARCDatasetClean", path="d/ARC.jsonl", name="ARC-Challenge")[""]
    assert [row["is_clean"] for row in found] == ["clean", "not labeled"]


def test_rolebench_is_shuffled_as_the_library_shuffles():
    write("r/profiles-zh/desc.json", {"x": "X"})
    for kind in ("general", "role_specific"):
        for split in ("train", "test"):
            rows = [{"role": "x", "question": f"{kind} {i}", "generated": ["a", "b"]} for i in range(3)]
            write(f"r/rolebench-zh/{kind}/{split}.jsonl", rows)
    found = [row["question"] for row in splits("InstructionGeneralizationChineseDataset", path="r")["test"]]
    assert sorted(found) == sorted(f"{kind} {i}" for kind in ("general", "role_specific") for i in range(3))
    import datasets

    plain = [f"{kind} {i}" for kind in ("general", "role_specific") for i in range(3)]
    assert found == datasets.Dataset.from_dict({"q": plain}).shuffle(seed=42)["q"][:]


def test_a_row_of_the_wrong_form_says_what_is_missing():
    write("h/a.jsonl", [{"dialogs": []}])
    with pytest.raises(DataError, match="KeyError: 'id_ddm'"):
        splits("OpenSWIDataset", path=".", name="h")
    with pytest.raises(DatasetNotFoundError, match="there is no file 'nowhere/x'"):
        splits("OpenSWIDataset", path="nowhere", name="x")


# -- shapes -------------------------------------------------------------------------------------------------------


def test_rows_are_drawn_cut_and_repeated_as_upstream_does():
    import random

    rows = [{"input": str(i), "output": "o"} for i in range(300)]
    for split in ("dev", "test"):
        write(f"sci/t/{split}/data.json", rows)
    found = splits("PEER_Dataset", path="sci", task="t", mini_set=True)
    assert found["train"] == rows[:5]
    assert found["test"] == random.Random(1024).sample(rows, 150)
    assert splits("PEER_Dataset", path="sci", task="t", max_cut=7)["test"] == rows[:7]
    assert len(splits("Uncond_RNA_Dataset", num=3, prompt="p")[""]) == 3
    write("short/t/dev/data.json", rows[:2])
    write("short/t/test/data.json", rows[:2])
    with pytest.raises(DataError, match="mini_set draws 150 rows"):
        splits("PEER_Dataset", path="short", task="t", mini_set=True)


def test_tables_have_the_types_that_pandas_finds():
    write("s.csv", "problem,answer,n\nx,y,1\n,z,\n")
    found = splits("SimpleQADataset", path="s.csv", n_repeats=2)["test"]
    assert found[1] == {"problem": None, "answer": "z", "n": None}
    assert len(found) == 4
    assert found[0]["n"] == 1.0


def test_one_name_may_mean_several_classes():
    kinds = {
        name: spec_of(f"opencompass.datasets.{name}.NeedleBenchATCDataset", "opencompass")
        for name in ("needlebench.atc", "needlebench.atc_choice", "needlebench_v2.atc")
    }
    assert len({spec.generator for spec in kinds.values() if spec is not None}) == 3
    for version in ("needlebench", "needlebench_v2"):
        assert is_known({"type": Reference(f"opencompass.datasets.{version}.origin.NeedleBenchOriginEvaluator")})


# -- texts of upstream's package ----------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "site" / "opencompass"

    def add(name: str, text: str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for folder_ in [path.parent, *path.parent.parents]:
            if folder_ == folder.parent:
                break
            (folder_ / "__init__.py").write_text("raise RuntimeError('imported')")

    monkeypatch.setattr(upstream_texts, "package_folder", lambda name: folder)
    upstream_texts.constants.cache_clear()
    upstream_texts.package_yaml.cache_clear()
    yield add
    upstream_texts.constants.cache_clear()
    upstream_texts.package_yaml.cache_clear()


def test_constants_are_read_and_nothing_is_run(package):
    package("datasets/other.py", "SHARED = 'x'\n")
    package(
        "datasets/mine.py",
        "from .other import SHARED\nimport os\nA = 'a' + 'b'\nB = f'{A} {SHARED}'\nC = {'k': [A, 1], 'd': dict(z=2)}\n"
        "D = ' y '.strip().replace('y', A)\nE = os.getcwd()\nF = open('/etc/passwd').read()\nG = 1 // 0\n"
        "class K:\n    N = {'v': (1, 2)}\n    def f(self): raise SystemExit\nraise SystemExit\n",
    )
    found = upstream_texts.constants("datasets.mine")
    assert found == {
        "SHARED": "x", "A": "ab", "B": "ab x", "C": {"k": ["ab", 1], "d": {"z": 2}}, "D": "ab", "K.N": {"v": (1, 2)},
    }  # fmt: skip


def test_a_missing_package_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(upstream_texts, "package_folder", lambda name: None)
    write("w.jsonl", [{"question": "?"}])
    with pytest.raises(DatasetNotFoundError, match=r"not installed(.|\n)*proctor get opencompass"):
        upstream_texts.package_file("datasets/babilong/prompts.py")


def test_prompts_are_filled_with_words_of_the_package(package):
    package(
        "datasets/livemathbench/prompts.py",
        "PROMPT_EN = 'Solve, please reasoning step by step: {question}'\nPROMPT_CN = '{question}'\n",
    )
    write("l/202412/AMC_en.jsonl", [{"question": "1+1", "answer": "2"}])
    found = splits("LiveMathBenchDataset", path="l", dataset_splits=["AMC"], dataset_languages=["en"], cot=False)[""]
    assert found == [
        {
            "question": "1+1",
            "answer": "2",
            "subdivision": "livemathbench_202412_AMC_en",
            "idx": "0",
            "prompt": "Solve: 1+1",
        }
    ]
    package("datasets/korbench/korbench_dataset_config/prompt/0_shot.yaml", "logic_prompt_format:\n  - 'R {} Q {}'\n")
    write("k/logic/rule.jsonl", [{"idx": "1", "rule_content": "r"}])
    write(
        "k/logic/sample.json",
        [{"rule_id": "1", "question": "q", "answer": "a"}, {"rule_id": "9", "question": "", "answer": ""}],
    )
    found = splits("korbenchDataset", path="k", prompt_mode="0_shot", category="logic")[""]
    assert [row["prompt"] for row in found] == ["R r Q q"]
    package("datasets/korbench/korbench_dataset_config/prompt/mixed.yaml", "prompt_format:\n  - '{}; {}'\n")
    write("k/mixed/Multi-Q.json", [{"rule_list": ["logic_1"], "question_list": ["logic_7"]}])
    write("k/logic/sample.json", [{"idx": "7", "rule_id": "1", "question": "q", "answer": "[[a]]"}])
    row = splits("korbenchDataset", path="k", prompt_mode="mixed", category="Multi-Q")[""][0]
    assert row["prompt"] == "Rule 1: r; Question 1: q"
    assert row["answers"] == [{"category": "logic", "rule_id": "1", "answer": "[[a]]"}]


# -- needles and RULER --------------------------------------------------------------------------------------------


class Letters:
    def encode(self, text):
        return [ord(letter) for letter in text]

    def decode(self, numbers):
        return "".join(map(chr, numbers))


@pytest.fixture
def letters(monkeypatch):
    module = types.ModuleType("tiktoken")
    module.encoding_for_model = lambda name: Letters()
    monkeypatch.setitem(sys.modules, "tiktoken", module)
    tokens.tokenizer.cache_clear()
    tokens.any_tokenizer.cache_clear()
    yield
    tokens.tokenizer.cache_clear()
    tokens.any_tokenizer.cache_clear()


def test_a_needle_lies_where_the_config_says(letters):
    write("h/zh_tech.jsonl", [{"text": "h" * 400}])
    write("h/n.jsonl", [{"language": "English", "needle": "NEEDLE", "retrieval_question": "What?", "arg2": "E"}])
    arguments = {
        "path": "h", "tokenizer_model": "gpt-4", "file_list": ["zh_tech.jsonl"], "num_repeats_per_file": 2, "length": 100,
        "length_buffer": 12, "language": "English", "needle_file_name": "n.jsonl",
    }  # fmt: skip
    kind = "needlebench_v2.origin.NeedleBenchOriginDataset"
    found = splits(kind, **arguments, depth=25)[""]
    assert len(found) == 2
    assert f"{'h' * 20}\nNEEDLE\n{'h' * 60}\n</Document>" in found[0]["prompt"]
    assert found[0]["answer"] == "\nNEEDLE\n*E"
    with pytest.raises(DataError, match="no language 'French'"):
        splits(kind, **{**arguments, "language": "French"}, depth=25)
    with pytest.raises(DataError, match="no position 'Middle'"):
        splits(kind, **arguments, depth=25, quesiton_position="Middle")


def test_ancestors_are_drawn_by_the_row(package):
    write("h/names.json", {"English": ",".join(f"P{i}" for i in range(30))})
    arguments = {"path": "h", "file_name": "names.json", "num_needles": 3, "language": "English", "repeats": 2}
    found = splits("needlebench.atc_choice.NeedleBenchATCDataset", **arguments)[""]
    assert len(found) == 8
    assert {row["answer"].split("--")[1] for row in found[:4]} == set("ABCD")
    assert splits("needlebench.atc_choice.NeedleBenchATCDataset", **arguments)[""] == found


def test_ruler_fills_the_length_and_repeats_itself(letters):
    found = splits("RulerVtDataset", max_seq_length=2000, num_samples=3)[""]
    assert len(found) == 3
    assert all(1000 < len(row["prompt"]) + 30 <= 2000 for row in found)
    assert all(f"VAR {name} =" in row["prompt"] for row in found for name in row["answer"])
    assert splits("RulerVtDataset", max_seq_length=2000, num_samples=3)[""] == found
    squad = [
        {
            "context": f"text {i} " * 9,
            "qas": [{"question": f"q{i}", "is_impossible": i == 1, "answers": [{"text": f"a{i}"}]}],
        }
        for i in range(20)
    ]
    write("squad.json", {"data": [{"paragraphs": squad}]})
    found = splits("RulerQaDataset", path="squad.json", max_seq_length=3000, num_samples=2)[""]
    assert [row["answer"] for row in found] == [["a0"], ["a2"]]
    assert "text 2 text 2" in found[1]["prompt"]
    with pytest.raises(DataError, match="no text of RULER is short enough"):
        splits("RulerVtDataset", max_seq_length=100, num_samples=1)


def test_a_tokenizer_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    tokens.tokenizer.cache_clear()
    with pytest.raises(MissingExtraError, match="tiktoken"):
        splits("RulerVtDataset", num_samples=1)


# -- packed tests, archives ---------------------------------------------------------------------------------------


class Harmful:
    def __reduce__(self):
        return (Path.touch, (Path("harmed"),))


def pack(value) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def test_packed_tests_are_read_without_unpickling():
    assert packed_text(pack('[{"input": "é"}]')) == '[{"input": "é"}]'
    for bad in (pack(Harmful()), pack(["a", "b"]), pack(3), "not base64", base64.b64encode(b"plain").decode()):
        with pytest.raises(DataError):
            packed_text(bad)
    assert not Path("harmed").exists()


def test_documents_of_an_archive(package):
    package(
        "datasets/aa_lcr.py",
        "DEFAULT_REPO_ID = 'x'\nDEFAULT_CSV_FILENAME = 'q.csv'\nDEFAULT_ZIP_FILENAME = 'd.zip'\nPROMPT_TEMPLATE = '{documents_text}|{question}'\n",
    )
    header = "document_category,document_set_id,question_id,question,answer,data_source_filenames,input_tokens"
    write("a/q.csv", f"{header}\nC,s,7,why?,x; y,a.txt,3\n")
    with zipfile.ZipFile("a/d.zip", "w") as archive:
        archive.writestr("lcr/C/s/a.txt", "text")
    (row,) = splits("AALCRDataset", path="a")["test"]
    assert row["prompt"] == "BEGIN DOCUMENT 1:\ntext\nEND DOCUMENT 1|why?"
    assert row["answer"] == ["x", "y"]
