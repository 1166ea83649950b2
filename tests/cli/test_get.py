"""``proctor get``, from a folder of wheels: pip is the real one, and nothing of a package runs."""

import hashlib
import json
import shutil
import zipfile

import pytest
from tests_commands import proctor

from proctor.dialects.known_names import known_names, where_to_get
from proctor.packages import COLLECTIONS, fetched_folder, package_folder
from proctor.settings import settings

TASK = """
task: capital_cities
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
metric_list: [{metric: exact_match}]
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A machine that has pip, a folder of wheels, and nothing else."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wheel(home, version, **more):
    """Write a wheel of lm_eval with one task, whose module must not run."""
    name = f"lm_eval-{version}-py3-none-any.whl"
    files = {
        "lm_eval/__init__.py": "raise SystemExit('imported')",
        "lm_eval/tasks/cities/cities.yaml": TASK.replace("rows.jsonl", str(home / "rows.jsonl")),
        "lm_eval/tasks/cities/utils.py": "raise SystemExit('imported')",
        f"lm_eval-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: lm_eval\nVersion: {version}\n",
        f"lm_eval-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **more,
    }
    path = home / "wheels" / name
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in {**files, f"lm_eval-{version}.dist-info/RECORD": ""}.items():
            archive.writestr(each, text)
    (home / "rows.jsonl").write_text(json.dumps({"q": "Of France?", "a": "Paris"}) + "\n")
    return path


def test_a_fetched_exam_is_known_from_then_on(home):
    if package_folder("lm_eval") is not None:
        pytest.skip("lm_eval is installed here, and comes first")
    path = wheel(home, "0.4.13")
    unknown = proctor("run", "--tasks", "arc_easy", "--model", "dummy")
    assert "'arc_easy' is an exam of lm-eval: proctor get lm-eval fetches them" in unknown.stderr
    done = proctor("get", "lm-eval")
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert f"lm-eval 0.4.13: 3 files, sha256 {digest[:16]}" in done.stderr
    run = proctor("run", "--tasks", "capital_cities", "--model", "scripted", "--model-args", "answer=Paris", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["capital_cities"]["exact_match"] == 1.0
    assert "capital_cities" in proctor("ls", "capital*").stdout
    about = json.loads(proctor("doctor", "--json").stdout)["collections"]["lm-eval"]
    assert about["version"] == "0.4.13"
    assert "0.4.13" in proctor("get").stdout


def test_another_version_takes_the_place_of_the_first(home):
    wheel(home, "0.4.9")
    wheel(home, "0.4.13")
    assert proctor("get", "lm_eval", "0.4.9").returncode == 0
    settings.cache_dir, before = home / "cache", settings.cache_dir
    try:
        assert fetched_folder("lm_eval").parent.name == "0.4.9"
        assert proctor("get", "lm-eval").returncode == 0
        assert fetched_folder("lm_eval").parent.name == "0.4.13"
    finally:
        settings.cache_dir = before


@pytest.mark.parametrize(
    "more, kept",
    [
        ({"lm_eval/../../evil.txt": "x", "/tmp/evil.txt": "x", "other/evil.txt": "x"}, 3),
        ({"lm_eval/fast.so": "x", "lm_eval/tasks/more.yaml": "task: more"}, 4),
    ],
)
def test_only_files_of_the_package_are_kept(home, more, kept):
    wheel(home, "0.4.13", **more)
    done = proctor("get", "lm-eval")
    assert f": {kept} files" in done.stderr, done.stderr
    names = {path.name for path in (home / "cache").rglob("*") if path.is_file()}
    assert not names & {"evil.txt", "fast.so"}


def placed(home):
    """A fetched lm_eval: the folder of its task."""
    wheel(home, "0.4.13", **{"lm_eval/tasks/cities/more.yaml": "task: more"})
    assert proctor("get", "lm-eval").returncode == 0
    (state,) = (home / "cache").glob("state")
    assert state.stat().st_mode & 0o777 == 0o700
    return state / "packages" / "lm_eval" / "0.4.13" / "lm_eval" / "tasks" / "cities"


ASKED = ("run", "--tasks", "capital_cities", "--model", "scripted", "--model-args", "answer=Paris")


@pytest.mark.parametrize("what", ["task", "new file", "facts", "digests", "without a seal"])
@pytest.mark.skipif(package_folder("lm_eval") is not None, reason="lm_eval is installed here, and comes first")
def test_a_forged_package_is_told_and_nothing_of_it_is_used(home, what):
    folder = placed(home)
    about, digests = folder.parents[3] / "package.json", folder.parents[3] / "digests.json"
    if what == "task":
        (folder / "cities.yaml").write_text(TASK.replace("{{a}}", "Rome").replace("rows", str(home / "rows")))
    elif what == "new file":
        text = TASK.replace("rows.jsonl", str(home / "rows.jsonl")).replace("capital_cities", "evil_cities")
        (folder / "evil.yaml").write_text(text)
    elif what == "digests":
        digests.write_text(digests.read_text().replace("a", "b"))
    else:
        facts = json.loads(about.read_text())
        about.write_text(json.dumps({**facts, "seal": "0" * 64} if what == "facts" else {"version": facts["version"]}))
    asked = [each.replace("capital", "evil") if what == "new file" else each for each in ASKED]
    done = proctor(*asked)
    assert done.returncode == 3, done.stderr
    assert "is not what proctor get filed" in done.stderr
    assert proctor("get", "lm-eval").returncode == 0
    assert proctor(*ASKED).returncode == 0


@pytest.mark.skipif(package_folder("lm_eval") is not None, reason="lm_eval is installed here, and comes first")
def test_packages_that_were_fetched_before_are_moved_and_filed_as_they_are(home):
    folder = placed(home).parents[4]
    for name in ("package.json", "digests.json"):
        facts = folder / "lm_eval" / name
        kept = {key: value for key, value in json.loads(facts.read_text()).items() if key not in ("seal", "digests")}
        facts.write_text(json.dumps(kept)) if name == "package.json" else facts.unlink()
    shutil.move(folder, home / "cache" / "packages")
    done = proctor(*ASKED)
    assert done.returncode == 0, done.stderr
    assert "was moved to" in done.stderr
    assert "was moved to" not in proctor(*ASKED).stderr


def test_what_cannot_be_had_is_said(home):
    assert "did you mean 'lm-eval'?" in proctor("get", "lm-evl").stderr
    absent = proctor("get", "unitxt")
    assert absent.returncode != 0
    assert "pip cannot get unitxt" in absent.stderr
    (home / "wheels" / "lm_eval-0.4.13-py3-none-any.whl").write_bytes(b"not a wheel")
    broken = proctor("get", "lm-eval")
    assert broken.returncode != 0
    assert "Traceback" not in broken.stderr
    assert not (home / "cache" / "state" / "packages").exists()


def test_known_names_say_who_has_them(monkeypatch):
    monkeypatch.setattr("proctor.dialects.known_names.package_folder", lambda module: None)
    assert known_names().keys() == COLLECTIONS.keys()
    assert sum(map(len, known_names().values())) > 15_000
    assert "proctor get opencompass" in where_to_get("gsm8k_gen")
    assert "proctor get lm-eval" in where_to_get("mmlu_anatomy@cloze")
    assert "did you mean 'arc_easy'" in where_to_get("arc_eassy")
    assert where_to_get("zzz zzz zzz zzz") == ""
    monkeypatch.setattr("proctor.dialects.known_names.package_folder", lambda module: "there")
    assert where_to_get("arc_easy") == ""
