"""The hub is asked only where it may be, and where it answers."""

import pytest

from proctor.data import hub_access
from proctor.settings import settings


@pytest.fixture
def connections(monkeypatch):
    tried = []

    def refuse(*arguments, **options):
        tried.append(arguments)
        raise OSError("no network")

    monkeypatch.setattr(hub_access.socket, "create_connection", refuse)
    for name in ("HF_HUB_OFFLINE", *hub_access._PROXIES):
        monkeypatch.delenv(name, raising=False)
    hub_access._answers.cache_clear()
    yield tried
    hub_access._answers.cache_clear()


def test_a_hub_that_does_not_answer_is_tried_once(connections):
    assert hub_access.is_local_only("nobody/nothing")
    assert hub_access.is_local_only("nobody/anything")
    assert len(connections) == 1


def test_nobody_connects_for_a_folder_or_offline(connections, tmp_path, monkeypatch):
    assert not hub_access.is_local_only(str(tmp_path))
    with settings.context(offline=True):
        assert hub_access.is_local_only("nobody/nothing")
    monkeypatch.setenv("HF_HUB_OFFLINE", "yes")
    assert hub_access.is_local_only("nobody/nothing")
    assert connections == []


def test_behind_a_proxy_the_hub_is_asked(connections, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert not hub_access.is_local_only("nobody/nothing")
