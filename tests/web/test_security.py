import re
from importlib.resources import files

import pytest
from tests_web_support import client_of

from proctor.web.app import create_app
from proctor.web.security import CONTENT_SECURITY_POLICY

PATHS = ("/runs", "/explore", "/compare", "/static/app.css", "/static/parts.css", "/nothing")


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_policy(client, path):
    headers = client.get(path).headers
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7700", "127.0.0.1.evil.example", "", "localhost.evil"])
def test_foreign_hosts_are_refused(client, host):
    answer = client.get("/runs", headers={"host": host})
    assert answer.status_code == 403
    assert "capitals" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:7700", "localhost:80", "[::1]:7700", "LOCALHOST"])
def test_loopback_hosts_are_served(client, host):
    assert client.get("/runs", headers={"host": host}).status_code == 200


def test_a_host_that_the_user_chose_is_served(runs):
    with client_of(create_app([runs], ["box.lan"]), "box.lan:1") as client:
        assert client.get("/runs").status_code == 200
        assert client.get("/runs", headers={"host": "127.0.0.1"}).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_the_app_only_reads(client, method):
    assert client.request(method, "/runs").status_code == 403


@pytest.mark.parametrize("page", [path.name for path in files("proctor.web").joinpath("pages").iterdir()])
def test_no_page_has_inline_scripts_styles_or_foreign_addresses(page):
    text = files("proctor.web").joinpath("pages", page).read_text()
    assert not re.search(r"\son\w+\s*=", text)
    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"(href|src)\s*=\s*[\"']?(https?:)?//", text)
    assert ("|safe" in text) == (
        page in {"report.html", "item_report.html", "answers.html", "sweep.html"}
    )  # there: our own style sheet


def test_no_file_outside_the_runs_is_reachable(client, runs):
    (runs.parent / "secret").mkdir()
    (runs.parent / "secret" / "run.yaml").write_text("model: the-secret-model\ntasks: [x]\n")
    (runs / "link").symlink_to(runs.parent / "secret")
    assert "the-secret-model" not in client.get("/runs").text
