import json
import subprocess

import pytest

from proctor.artifacts import fetch_artifact, unregister_catalog
from proctor.artifacts.git_catalog import git_catalog, register_git_catalog
from proctor.errors import ArtifactError


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
