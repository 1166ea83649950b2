import json
import subprocess
from importlib import import_module

import pytest
from tests_grants import granting

from proctor.artifacts import fetch_artifact, unregister_catalog
from proctor.artifacts.git_catalog import git_catalog, register_git_catalog
from proctor.effects import Author, written_by
from proctor.errors import ArtifactError, NotAllowedError


def git(folder, *arguments):
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository_of_catalogs(tmp_path):
    folder = tmp_path / "repository"
    (folder / "shared" / "formats").mkdir(parents=True)
    path = folder / "shared" / "formats" / "ours.json"
    git(folder, "init", "-q")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    revisions = []
    for text in ("first {source}", "second {source}"):
        path.write_text(json.dumps({"__type__": "system_format", "model_input_format": text}))
        git(folder, "add", ".")
        git(folder, "commit", "-qm", text)
        revisions.append(git(folder, "rev-parse", "HEAD"))
    return folder, revisions


def test_a_revision_is_pinned_and_fetched_once(repository_of_catalogs):
    folder, (first, _) = repository_of_catalogs
    catalog = register_git_catalog(str(folder), first, "shared")
    assert list(catalog.names()) == ["formats.ours"]
    try:
        assert fetch_artifact("formats.ours").model_input_format == "first {source}"
    finally:
        unregister_catalog(catalog)
    (folder / ".git").rename(folder / "gone")
    assert list(git_catalog(str(folder), first, "shared").names()) == ["formats.ours"]


def test_hooks_do_not_run(repository_of_catalogs, tmp_path, monkeypatch):
    folder, (_, second) = repository_of_catalogs
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    hook = hooks / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    configuration = tmp_path / "gitconfig"
    configuration.write_text(f"[core]\n  hooksPath = {hooks}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    git_catalog(str(folder), second, "shared")
    assert not (tmp_path / "ran").exists()


def test_mistakes_are_named(repository_of_catalogs, tmp_path):
    folder, (first, _) = repository_of_catalogs
    with pytest.raises(ArtifactError, match="no folder 'elsewhere'"):
        git_catalog(str(folder), first, "elsewhere")
    with pytest.raises(ArtifactError, match="cannot be fetched"):
        git_catalog(str(folder), "0" * 40)
    with pytest.raises(ArtifactError, match="cannot be fetched"):
        git_catalog(str(tmp_path / "nowhere"), "main")
    with pytest.raises(ArtifactError, match="not the url"):
        git_catalog("--upload-pack=touch /tmp/x", "main")
    with pytest.raises(ArtifactError, match="outside the repository"):
        git_catalog(str(folder), first, "../..")


STRANGER = Author("/stranger/exam.yaml", "/stranger")
PROGRAMS = [
    "ext::sh -c touch% {ran}",
    "fd::17",
    "foo::bar",
    "ext://sh -c touch {ran}",
    "transport::https://example.org/x",
    "--upload-pack=touch {ran}",
    "-uOption",
    "ssh://-oProxyCommand=touch {ran}/x",
    "ssh://user@-oProxyCommand=touch {ran}/x",
    "-oProxyCommand=touch {ran}:x",
    "user@-oProxyCommand=x:path",
    "https://example.org/\n--upload-pack=x",
    "s3://bucket/repository",
    "javascript://x",
    "",
]


@pytest.mark.parametrize("url", PROGRAMS)
def test_no_address_starts_a_program(tmp_path, monkeypatch, url):
    monkeypatch.chdir(tmp_path)
    for who in (None, STRANGER):
        with written_by(who), granting("run:git", "net:*"), pytest.raises(ArtifactError):
            git_catalog(url.format(ran=tmp_path / "ran"), "main")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("revision", ["", "--exec=x", "-x", "a\nb", "+refs/heads/*:refs/heads/*", "main:refs/heads/x"])
def test_no_revision_is_an_option(repository_of_catalogs, revision):
    with pytest.raises(ArtifactError, match="not the revision"):
        git_catalog(str(repository_of_catalogs[0]), revision)


@pytest.mark.parametrize(
    "url, wanted",
    [
        ("https://example.org/x.git", ["run:git", "net:example.org"]),
        ("ssh://git@example.org:2222/x.git", ["run:git", "net:example.org:2222"]),
        ("git@example.org:x.git", ["run:git", "net:example.org"]),
        ("git://example.org/x", ["run:git", "net:example.org"]),
        ("file:///secrets/repository", ["run:git", "read:/secrets/repository"]),
        ("/secrets/repository", ["run:git", "read:/secrets/repository"]),
    ],
)
def test_for_a_file_of_somebody_else_starting_git_and_asking_the_server_are_effects(monkeypatch, url, wanted):
    monkeypatch.setattr(subprocess, "run", None)
    monkeypatch.setattr(subprocess, "Popen", None)
    with written_by(STRANGER), pytest.raises(NotAllowedError) as caught:
        git_catalog(url, "main")
    assert [each.hint.split(",")[0].removeprefix("--allow ") for each in caught.value.diagnostics] == wanted
    with written_by(STRANGER), granting(wanted[0]), pytest.raises(NotAllowedError):
        git_catalog(url, "main")


def test_what_is_allowed_is_fetched_for_a_file(repository_of_catalogs):
    folder, (first, _) = repository_of_catalogs
    with written_by(STRANGER), granting("run:git", f"read:{folder}"):
        assert list(git_catalog(str(folder), first, "shared").names()) == ["formats.ours"]


def test_only_plain_json_files_come_out_of_a_repository(repository_of_catalogs, tmp_path, monkeypatch):
    folder, _ = repository_of_catalogs
    ran, secret = tmp_path / "ran", tmp_path / "secret.json"
    secret.write_text('{"secret": 1}')
    configuration = tmp_path / "gitconfig"
    configuration.write_text(f'[filter "evil"]\n  smudge = touch {ran}\n[protocol "file"]\n  allow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    (folder / ".gitattributes").write_text("*.json filter=evil\n")
    (folder / "shared" / "link.json").symlink_to(secret)
    (folder / "shared" / "linked").symlink_to(tmp_path)
    (folder / "shared" / "program.sh").write_text("touch ran")
    (folder / "shared" / "run.json").write_text("{}")
    (folder / "shared" / "run.json").chmod(0o755)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "odd")
    ran.unlink(missing_ok=True)  # adding ran nothing of ours
    git(folder, "submodule", "add", "-q", str(folder), "shared/inner.json")
    git(folder, "commit", "-qm", "submodule")
    ran.unlink(missing_ok=True)
    catalog = git_catalog(str(folder), git(folder, "rev-parse", "HEAD"), "shared")
    files = sorted(path.relative_to(catalog.folder).as_posix() for path in catalog.folder.rglob("*") if path.is_file())
    assert files == ["formats/ours.json", "run.json"]
    assert not ran.exists()
    assert not any(path.stat().st_mode & 0o111 for path in catalog.folder.rglob("*.json"))


def test_variables_of_git_s_hooks_do_not_lead_elsewhere(repository_of_catalogs, tmp_path, monkeypatch):
    folder, (first, _) = repository_of_catalogs
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert list(git_catalog(str(folder), first, "shared").names()) == ["formats.ours"]
    assert not (tmp_path / "elsewhere").exists()


def test_a_repository_beside_the_working_folder_is_found(repository_of_catalogs, monkeypatch):
    folder, (first, _) = repository_of_catalogs
    monkeypatch.chdir(folder.parent)
    assert list(git_catalog(folder.name, first, "shared").names()) == ["formats.ours"]


def test_a_repository_that_is_too_large_is_refused(repository_of_catalogs, monkeypatch):
    folder, (_, second) = repository_of_catalogs
    for limit in ("_LARGEST_BYTES", "_MOST_BYTES", "_MOST_FILES"):
        with monkeypatch.context() as patch:
            patch.setitem(git_catalog.__globals__, limit, 0)
            with pytest.raises(ArtifactError, match="too large"):
                git_catalog(str(folder), second)


@pytest.mark.parametrize("limit", ["_MOST_FILES", "_MOST_BYTES", "_LARGEST_BYTES"])
def test_a_repository_may_be_so_large_and_no_larger(repository_of_catalogs, monkeypatch, limit):
    folder, (first, second) = repository_of_catalogs
    size = len((folder / "shared" / "formats" / "ours.json").read_bytes())
    most = 1 if limit == "_MOST_FILES" else size
    module = import_module("proctor.artifacts.git_catalog")  # the package has a function of this name
    monkeypatch.setattr(module, limit, most)
    assert list(git_catalog(str(folder), second, "shared").names()) == ["formats.ours"]
    monkeypatch.setattr(module, limit, most - 2)
    with pytest.raises(ArtifactError, match="too large for a catalog"):
        git_catalog(str(folder), first, "shared")
