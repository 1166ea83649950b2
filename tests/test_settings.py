import threading

import pytest

from proctor.errors import SettingsError
from proctor.settings import get_settings, settings


@pytest.fixture(autouse=True)
def _restore():
    before = dict(settings._assigned)
    yield
    settings._assigned.clear()
    settings._assigned.update(before)


def test_default_then_environment_then_assignment_then_context(monkeypatch):
    assert settings.seed == 42
    monkeypatch.setenv("PROCTOR_SEED", "7")
    assert settings.seed == 7
    settings.seed = 8
    assert settings.seed == 8
    with settings.context(seed=9) as inner:
        assert inner.seed == 9
    assert settings.seed == 8


def test_a_context_belongs_to_its_thread():
    seen = []
    with settings.context(seed=1):
        thread = threading.Thread(target=lambda: seen.append(settings.seed))
        thread.start()
        thread.join()
    assert seen == [42]


@pytest.mark.parametrize("name, text", [("PROCTOR_SEED", "many"), ("PROCTOR_OFFLINE", "perhaps")])
def test_impossible_values_are_named(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError, match=name):
        getattr(settings, name.removeprefix("PROCTOR_").lower())


def test_mistyped_settings_are_refused():
    with pytest.raises(SettingsError, match="did you mean 'seed'"):
        settings.sead = 3
    with pytest.raises(SettingsError), settings.context(sede=3):
        pass
    with pytest.raises(AttributeError):
        settings.nothing_like_it
    assert get_settings() is settings
    assert "seed" in settings.describe()
    assert "seed" in dir(settings)
