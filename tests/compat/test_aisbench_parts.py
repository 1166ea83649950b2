"""Small parts of AISBench as programs import them: constants, checked files, films, needles, instructions."""

import base64
import io
import json
import random
import stat
import sys
from importlib import import_module
from types import ModuleType
from unittest import mock

import numpy as np
import pytest

from proctor import compat
from proctor.errors import DatasetNotFoundError, UsageError

DATASETS = "ais_bench.benchmark.datasets"

pytestmark = pytest.mark.usefixtures("installed")


def module(name):
    return import_module(f"{DATASETS}.{name}")


# -- constants -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place, name, wanted",
    [
        ("datasets.mmmu", "IMAGE_MAP_LEN", 64),
        ("datasets.docvqa", "ANLS_THRESHOLD", 0.5),
        ("datasets.mmlu_pro", "CHOICES", list("ABCDEFGHIJKLMNOP")),
        ("datasets.refcoco.refcoco", "TEMP_IMAGE_STORE_DIR", "temp_save_images"),
        ("tasks.swebench.swebench_eval", "KEY_MODEL", "model_name_or_path"),
        ("summarizers.default", "METRIC_BLACKLIST", ["bp", "sys_len", "ref_len", "type"]),
        ("utils.config.message_constants", "offset", 0),
        ("tasks.openicl_eval", "TYPE_DEFAULT_MAP", {list: [], dict: {}, str: "", int: 0, float: 0, bool: 0}),
    ],
)
def test_short_constants_are_upstream_s(place, name, wanted):
    assert getattr(import_module(f"ais_bench.benchmark.{place}"), name) == wanted


def test_codes_of_errors_are_listed():
    from ais_bench.benchmark.utils.logging import error_codes

    assert error_codes.UTILS_CODES in error_codes.ERROR_CODES_CLASSES


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Put a package of AISBench where a fetched one lies."""
    folder = tmp_path / "ais_bench" / "benchmark" / "datasets"
    (folder / "livecodebench").mkdir(parents=True)
    (folder / "sketches.py").write_text("KINDS = ['line', 'dot']\nMADE = object()\nraise SystemExit\n")
    (folder / "livecodebench" / "prompts.py").write_text(
        "class Hints:\n    FIRST = 'one'\n    SECOND = 'one ' + 'two'\n"
    )
    monkeypatch.setattr(
        "proctor.compat.aisbench_names.constants.package_folder", lambda name: tmp_path / name if name else None
    )


@pytest.mark.usefixtures("package")
def test_long_constants_are_read_from_the_package_which_is_not_run():
    from ais_bench.benchmark.datasets.livecodebench.prompts import Hints
    from ais_bench.benchmark.datasets.sketches import KINDS

    assert KINDS == ["line", "dot"]
    assert (Hints.FIRST, Hints.SECOND) == ("one", "one two")
    with pytest.raises(ImportError, match="no 'MADE'"):
        import_module(f"{DATASETS}.sketches").MADE


@pytest.mark.usefixtures("package")
def test_a_constant_that_a_program_changes_is_its_own():
    module("sketches").KINDS.append("hue")

    assert vars(module("sketches"))["KINDS"] == ["line", "dot", "hue"]
    compat.uninstall()
    compat.install()
    assert module("sketches").KINDS == ["line", "dot"]


def test_without_the_package_an_import_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("proctor.compat.aisbench_names.constants.package_folder", lambda name: None)

    with pytest.raises(ImportError, match="proctor get ais-bench"):
        from ais_bench.benchmark.datasets.livecodebench.prompts import CodeGenerationPromptConstants  # noqa: F401
    with pytest.raises(DatasetNotFoundError, match="list of words"):
        module("ifeval.instructions_util").generate_keywords(1)


def test_private_names_that_are_looked_for_are_just_not_there():
    assert not hasattr(import_module("ais_bench.benchmark.datasets"), "_is_coroutine")
    with mock.patch("ais_bench.benchmark.summarizers.default.mmengine") as files:
        assert import_module("ais_bench.benchmark.summarizers.default").mmengine is files


def test_a_package_behind_an_alias_is_found(tmp_path, monkeypatch):
    from proctor.packages import package_folder

    (tmp_path / "ais_bench").mkdir()
    (tmp_path / "ais_bench" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    assert package_folder("ais_bench") == tmp_path / "ais_bench"


@pytest.mark.parametrize(
    "place, name, why",
    [
        ("humanevalx.humanevalx", "HumanevalXEvaluator", "a service that runs them"),
        ("gsm8k", "Gsm8kAgentEvaluator", "steps of an agent"),
        ("mtbench", "MTBenchEvaluator", "measures nothing"),
        ("omnidocbench.omnidocbench", "OmniDocBenchEvaluator", "LaTeX"),
        ("humanevalx.humaneval_x_utils", "check_correctness", "sandbox"),
        ("humanevalx.humaneval_x_utils", "cleanup_code", "a service that runs them"),
    ],
)
def test_what_is_not_here_can_be_imported_and_says_why_when_it_is_called(place, name, why):
    with pytest.raises(UsageError, match=name) as caught:
        getattr(module(place), name)("x")
    assert why in str(caught.value)


# -- checked files ---------------------------------------------------------------------------------------------------


def test_paths_are_checked(tmp_path):
    files = module("humanevalx.file_utils")
    (tmp_path / "file").write_text("x")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")

    with pytest.raises(TypeError, match="should not be None"):
        files.check_path_is_none(None)
    with pytest.raises(ValueError, match="symbolic link"):
        files.standardize_path(str(link))
    with pytest.raises(ValueError, match="length of path should not be greater than 3"):
        files.check_path_length_lt("four", 3)
    assert files.standardize_path(str(link), check_link=False) == str(tmp_path / "file")


def test_files_are_checked(tmp_path, monkeypatch):
    files = module("humanevalx.file_utils")
    path = tmp_path / "file"
    path.write_text("xyz")

    with pytest.raises(ValueError, match="size of file should not be greater than 2"):
        files.check_file_size_lt(str(path), 2)
    with pytest.raises(FileExistsError, match="expected not to exist"):
        files.check_file_safety(str(path), "w", is_exist_ok=False)
    with pytest.raises(FileNotFoundError, match="expected to exist"):
        files.check_file_safety(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="exceeds the limit 0"):
        files.safe_listdir(str(tmp_path), 0)
    path.chmod(0o666)
    with pytest.raises(PermissionError, match="should not be writable by others"):
        files.check_path_permission(str(path))
    monkeypatch.setenv("MINDIE_CHECK_INPUTFILES_PERMISSION", "0")
    files.check_path_permission(str(path))
    about = mock.Mock(st_uid=1, st_gid=1)
    with (
        mock.patch("os.stat", return_value=about),
        mock.patch("os.geteuid", return_value=2),
        mock.patch("os.getgid", return_value=2),
        pytest.raises(PermissionError, match="does not have permission"),
    ):
        files.check_owner(str(path))


def test_files_are_opened_with_narrow_rights(tmp_path):
    files = module("humanevalx.file_utils")
    path = str(tmp_path / "file")

    with files.safe_open(path, "w", encoding="utf-8") as file:
        file.write("é\n")
    with files.safe_open(path, "a", encoding="utf-8") as file:
        file.write("b\n")
    with files.safe_open(path, "rb") as file:
        assert file.read() == b"\xc3\xa9\nb\n"
    with files.safe_open(path, "r+", encoding="utf-8") as file, pytest.raises(ValueError, match="exceeds the limit 1"):
        files.safe_readlines(file, 1)

    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    files.safe_chmod(path, 0o400)
    assert not files.has_owner_write_permission(path)


# -- films -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def film(monkeypatch):
    """Put a film of five pictures in the place of OpenCV's."""
    shown = mock.Mock()
    shown.get.return_value = 5
    shown.retrieve.return_value = (True, np.array([[[1, 2, 3]]], dtype=np.uint8))
    opencv = ModuleType("cv2")
    opencv.VideoCapture, opencv.CAP_PROP_FRAME_COUNT = (lambda path: shown), 7
    monkeypatch.setitem(sys.modules, "cv2", opencv)
    return shown


def test_pictures_of_a_film_are_evenly_spaced(film):
    asset = module("utils.video").VideoAsset("film.mp4", num_frames=3)

    assert asset.np_ndarrays.shape == (3, 1, 1, 3)
    assert [picture.getpixel((0, 0)) for picture in asset.pil_images] == [(3, 2, 1)] * 3
    assert film.retrieve.call_count == 6


def test_a_film_that_cannot_be_read_is_named(film, monkeypatch):
    video = module("utils.video")

    film.grab.side_effect = [True, False]
    with pytest.raises(ValueError, match="too few pictures"):
        video.video_to_ndarrays("film.mp4", num_frames=3)
    film.isOpened.return_value = False
    with pytest.raises(ValueError, match=r"'film\.mp4' cannot be opened"):
        video.video_to_ndarrays("film.mp4")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(UsageError, match="cannot be read"):
        video.video_to_ndarrays("film.mp4")


def test_a_picture_is_packed_as_base64():
    from PIL import Image

    packed = module("utils.video").image_to_base64(Image.new("RGB", (2, 1)))

    assert Image.open(io.BytesIO(base64.b64decode(packed))).size == (2, 1)


# -- needles ---------------------------------------------------------------------------------------------------------

LINES = [
    {"language": "English", "needle": "n1", "retrieval_question": "q1", "arg1": "a", "arg2": "k1"},
    {"language": "Chinese", "needle": "n2", "retrieval_question": "q2", "arg1": "a", "arg2": "k2"},
    {"language": "English", "needle": "n3", "retrieval_question": "q3", "arg1": "a", "arg2": "k3"},
]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "needles.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in LINES))
    return path


def test_a_needle_is_drawn_by_its_seed(lines):
    draw = module("needlebench_v2.origin").get_random_line_by_language

    assert draw(0, str(lines), "English") == {"needle": "n3", "retrieval_question": "q3", "keyword": "k3"}
    assert draw(0, str(lines), "French") is None


@pytest.mark.parametrize(
    "unique, count",
    [({}, 2), ({"unique_arg1": True}, 1), ({"unique_arg2": True}, 2), ({"unique_combination": True}, 1)],
)
def test_needles_are_told_apart(lines, unique, count):
    lines.write_text(lines.read_text() + "no JSON\n")

    assert len(module("needlebench_v2.parallel").get_unique_entries(str(lines), 5, "English", **unique)) == count


def test_a_chain_of_relatives_is_upstream_s(tmp_path, monkeypatch):
    words = {"relationship_templates_en": ["{A} is {B}'s {relationship}."], "relationship_terms_en": ["mom", "dad"]}
    monkeypatch.setattr("proctor.compat.aisbench_names.needles.constants", lambda module: words)
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"English": "Ann,Bob,Cid,Dan", "French": "Jean,Luc"}))
    draw = module("needlebench_v2.multi").get_random_needles
    stream = random.Random(3)
    people = stream.sample(["Ann", "Bob", "Cid", "Dan"], 3)

    found = draw(3, str(names), 3, "English")

    assert (found["answer"], found["last_person"]) == (people[0], people[-1])
    assert len(found["needles"]) == 2
    assert people[-1] in found["retrieval_question"]
    with pytest.raises(ValueError, match="no language 'French'"):
        draw(3, str(names), 2, "French")


def test_kinds_of_questions_and_names_of_ancestors():
    kinds = module("needlebench_v2.atc").QuestionType

    assert [each.value for each in kinds] == [0, 1, 2, 3]
    assert (
        module("needlebench_v2.atc").NeedleBenchATCDataset
        is not module("needlebench_v2.atc_elder_only").NeedleBenchATCDataset
    )
    clean = module("needlebench_v2.atc_elder_only").clean_atc_answer
    assert [clean(text) for text in ("", "\\text{Li  Ming}", "\\boxed{a}~'b'")] == ["None", "Li Ming", "a b"]


# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, sentences",
    [  # of ais_bench 3.1
        ("Mr. Who went. He came.", ["Mr. Who went.", "He came."]),
        ("In the U.S. He said 3.14 is at site.com today.", ["In the U.S.", "He said 3.14 is at site.com today."]),
        ('"Yes." "Why?" No!', ['"Yes".', '"Why"?', "No!"]),
        ("Wait... A. Smith of Inc. They left", ["Wait...", "A. Smith of Inc", "They left"]),
        ("a.b. This is one", ["a.b. This is one"]),
    ],
)
def test_sentences_are_split_as_upstream(text, sentences):
    assert module("ifeval.instructions_util").split_into_sentences(text) == sentences


@pytest.mark.parametrize(
    "name, arguments, right, wrong",
    [
        ("ConstrainedStartChecker", {"starter": " I believe "}, "So:\nI believe it", "It is so, I believe"),
        ("RephraseChecker", {"original_message": "a *b* c"}, "a *d e* c", "x *b* c"),
        ("KeySentenceChecker", {"key_sentences": ["Yes.", "No."], "num_sentences": 1}, "Well. Yes.", "Yes. No."),
        ("RephraseParagraph", {"original_paragraph": "one two two", "low": 2, "high": 2}, "Two two", "one two two"),
    ],
)
def test_instructions_that_no_exam_asks_for_are_checked(name, arguments, right, wrong):
    instruction = getattr(module("ifeval.instructions"), name)("x")
    said = instruction.build_description(**arguments)

    assert said
    assert instruction.get_instruction_args_keys() == list(instruction.get_instruction_args())
    assert instruction.check_following(right)
    assert not instruction.check_following(wrong)


def test_arguments_of_instructions_are_drawn_or_refused():
    instructions = module("ifeval.instructions")
    start, key = instructions.ConstrainedStartChecker("x"), instructions.KeySentenceChecker("x")

    with mock.patch("random.choice", return_value="I think"):
        assert "I think" in start.build_description()
    key.build_description()
    assert key.get_instruction_args()["num_sentences"] == 1
    with pytest.raises(ValueError, match="between asterisks"):
        instructions.RephraseChecker("x").build_description(original_message="plain")


def test_a_question_for_the_output_of_a_test():
    ask = module("livecodebench.prompts").get_generic_question_template_test_completion

    assert "assert add(1, 2) == # TODO" in ask("Add.", "def add(a, b): pass", "1\n2")
    with pytest.raises(ValueError, match="one function"):
        ask("Add.", "x = 1", "1")


def test_rows_and_answers_come_together_for_a_judge(tmp_path):
    rows, answers = tmp_path / "rows.jsonl", tmp_path / "answers.jsonl"
    rows.write_text('{"question": "1+1", "answer": "2"}\n{"question": "2+2", "answer": "4"}\n')
    answers.write_text('{"id": 1, "uuid": "b", "prediction": "five"}\n')
    kind = module("aime2025").Aime2025JDGDataset

    found = kind(
        {"input_columns": ["question"], "output_column": "answer"}, path=str(rows), predictions_path=str(answers)
    )

    assert [(row["question"], row["model_answer"]) for row in found.dataset["test"]] == [("2+2", "five")]
