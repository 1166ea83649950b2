"""What an exam may do is asked in one place, by who wrote it."""

import json
import re
from pathlib import Path

import pytest
from tests_grants import granting

from proctor import LoadFromDictionary, effects
from proctor.artifacts import fetch_artifact
from proctor.effects import Author, Effect
from proctor.errors import NotAllowedError, SettingsError
from proctor.settings import settings

STRANGER = Author("card.json", "/nowhere")
ROWS = {"__type__": "load_from_dictionary", "data": {"test": [{"a": 1}]}}


def test_what_a_program_builds_is_its_own_and_what_is_read_is_its_files(tmp_path):
    assert LoadFromDictionary(data={"test": [{"a": 1}]}).author is None
    assert fetch_artifact(ROWS).author == Author()
    path = tmp_path / "loader.json"
    path.write_text(json.dumps(ROWS))
    assert fetch_artifact(path).author == Author(str(path), str(tmp_path))
    with effects.written_by(None):
        assert fetch_artifact(ROWS).author is None
    with effects.written_by(STRANGER):
        assert LoadFromDictionary(data={"test": [{"a": 1}]}).author == STRANGER


def test_parts_of_a_file_have_the_author_of_the_file(tmp_path):
    path = tmp_path / "card.json"
    path.write_text(json.dumps({"__type__": "sequential_operator", "steps": [{"__type__": "shuffle"}]}))
    (step,) = fetch_artifact(path).steps
    assert step.author == Author(str(path), str(tmp_path))


def test_effects_are_refused_all_at_once_with_what_allows_them():
    wanted = effects.asking("https://api.example.org/rows", "load_from_api", ["SECRET"])
    with pytest.raises(NotAllowedError) as refused:
        effects.require(wanted, STRANGER)
    text = str(refused.value)
    assert "load_from_api asks api.example.org: nobody allowed that" in text
    assert "sends the environment variable SECRET to api.example.org" in text
    assert "--allow net:api.example.org" in text
    assert "--allow env:SECRET@api.example.org" in text
    effects.require(wanted, None)


@pytest.mark.parametrize(
    "given, effect, allowed",
    [
        ("net:api.example.org", Effect("net", "api.example.org"), True),
        ("net:api.example.org", Effect("net", "api.example.org:8443"), False),
        ("net:*.example.org", Effect("net", "api.example.org"), True),
        ("net:[::1]:8000", Effect("net", "[::1]:8000"), True),
        ("net:[::1]:8000", Effect("net", "::8000"), False),
        ("net:*.example.org", Effect("net", "api.example.org.evil.net"), False),
        ("net:node*:8000-8099", Effect("net", "node7:8099"), True),
        ("net:node*:8000-8099", Effect("net", "node7:8100"), False),
        ("net:node*:8000-8099", Effect("net", "evil:8000"), False),
        ("net:node*:8000-8099", Effect("net", "node7"), False),
        ("net:api.example.org", Effect("env", "KEY@api.example.org"), False),
        ("env:KEY@api.example.org", Effect("env", "KEY@api.example.org"), True),
        ("env:KEY@api.example.org", Effect("env", "KEY@evil.net"), False),
        ("write:/data/out", Effect("write", "/data/out/a/b"), True),
        ("write:/data/out", Effect("write", "/data/outside"), False),
        ("read:/data", Effect("write", "/data/x"), False),
    ],
)
def test_a_permission_covers_its_kind_and_its_target(given, effect, allowed):
    with granting(given):
        assert effects.is_allowed(effect) is allowed
    with settings.context(allow=given):
        assert effects.is_allowed(effect) is allowed
    assert not effects.is_allowed(effect)


def test_hubs_and_trusted_code_need_no_permission():
    assert effects.is_allowed(Effect("hub", "glue"))
    assert effects.is_allowed(Effect("net", "huggingface.co"))
    assert effects.is_allowed(Effect("env", "HF_TOKEN@huggingface.co"))
    assert not effects.is_allowed(Effect("env", "HF_TOKEN@evil.net"))
    assert not effects.is_allowed(Effect("env", "OPENAI_API_KEY@huggingface.co"))
    assert not effects.is_allowed(Effect("net", "huggingface.co.evil.net"))
    with settings.context(trust_code=True):
        assert effects.is_allowed(Effect("run", "rm"))


@pytest.mark.parametrize("text", ["", "net", "net:", "everything", "fly:moon"])
def test_what_is_not_a_permission_is_an_error(text):
    with pytest.raises(SettingsError, match="allows nothing"):
        effects.parse_grant(text)


@pytest.mark.parametrize("ports", ["9-8", "0-9", "1-65536"])
def test_ports_that_there_are_not_are_refused(ports):
    with pytest.raises(SettingsError, match="names ports that there are not"):
        effects.parse_grant(f"net:*:{ports}")


@pytest.mark.parametrize("url", ["", "http://", "http://host:99999999", "http://[::1", "nothing"])
def test_what_is_not_an_address_is_an_error(url):
    with pytest.raises(NotAllowedError, match="not an address"):
        effects.host_of(url)


def test_reading_is_free_beside_the_exam_and_in_mapped_folders_only(tmp_path, monkeypatch):
    exam, work, hub, other = (tmp_path / name for name in ("exam", "work", "hub", "other"))
    for folder in (exam, work, hub, other):
        (folder / ".hidden").mkdir(parents=True)
    monkeypatch.chdir(work)
    who = Author(str(exam / "card.json"), str(exam))
    (exam / "link").symlink_to(other)
    with settings.context(hub_dir=hub):
        free = [exam / "rows.csv", work / "deep" / "rows.csv", hub / ".hidden" / "x", Path("rows.csv")]
        assert [effects.reading(path, who) for path in free] == [[]] * 4
        refused = [other / "rows.csv", exam / ".hidden" / "key", work / ".env", exam / "link" / "x", exam / ".." / "x"]
        assert all(effects.reading(path, who) for path in refused)
    assert effects.reading(hub / "x", who)
    assert effects.reading(other / "x", who, "load_csv") == [Effect("read", str(other / "x"), "load_csv")]


def test_writing_is_free_in_a_folder_of_the_cache_that_no_other_exam_has(tmp_path):
    with settings.context(cache_dir=tmp_path / "cache"):
        own = effects.own_folder(STRANGER)
        assert own.is_relative_to(tmp_path / "cache" / "exams")
        assert effects.writing(own / "x", STRANGER) == []
        for other in (STRANGER._replace(file="other.json"), Author(), None):
            assert effects.writing(own / "x", other) == [Effect("write", str(own / "x"))]
        for place in (tmp_path / "x", tmp_path / "cache" / "responses.db", own / ".." / "x", tmp_path / "cache"):
            assert effects.writing(place, STRANGER) == [Effect("write", str(place.resolve()))]
        with pytest.raises(NotAllowedError, match=re.escape(f"it may write below {own}")):
            effects.require(effects.writing(tmp_path / "x", STRANGER), STRANGER)


@pytest.mark.parametrize(
    "address, wanted",
    [
        ("https://api.example.org/x.csv", ["net:api.example.org"]),
        ("file:///etc/passwd", ["read:/etc/passwd"]),
        ("zip://a.csv::https://example.org/x.zip", ["net:example.org"]),
        ("simplecache::file:///etc/passwd", ["read:/etc/passwd"]),
        ("s3://bucket/key", ["net:s3://bucket"]),
        ("http://[2001:db8::1]:8000/x", ["net:[2001:db8::1]:8000"]),
        ("https://[2001:DB8::1]/x", ["net:[2001:db8::1]"]),
        ("hf://datasets/glue/x.csv", ["hub:datasets/glue/x.csv"]),
        ("ftp://user@example.org/x", ["net:example.org"]),
    ],
)
def test_addresses_are_what_they_lead_to(address, wanted):
    assert [effect.grant for effect in effects.reading(address, STRANGER)] == wanted


def test_what_lies_beside_an_exam_is_its_own(tmp_path):
    (tmp_path / "exam.json").touch()
    assert effects.reading(tmp_path / "rows.csv", None)
    effects.open_folder(tmp_path / "exam.json")
    try:
        assert effects.reading(tmp_path / "rows.csv", None) == []
    finally:
        effects._exam_folders.clear()
