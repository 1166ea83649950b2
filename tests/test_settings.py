import threading

import pytest

from proctor.errors import SettingsError
from proctor.settings import get_settings, idle_variables, settings


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


@pytest.mark.parametrize("value", ["x", "4.5", 1.5, True, [3]])
def test_what_a_program_assigns_is_of_the_settings_kind(value):
    with pytest.raises(SettingsError, match="'seed'"):
        settings.seed = value
    with pytest.raises(ValueError, match="whole number"), settings.context(seed=value):
        pass
    assert settings.seed == 42


def test_numbers_and_switches_may_be_texts():
    settings.seed, settings.offline = "7", "True"
    assert (settings.seed, settings.offline) == (7, True)
    settings.global_loader_limit = None
    with pytest.raises(SettingsError, match="it is a switch"):
        settings.offline = 2


@pytest.mark.parametrize(
    "theirs, ours",
    [
        ("hf_offline_datasets_path", "hub_dir"),
        ("hf_offline_models_path", "models_dir"),
        ("artifactories", "catalogs"),
    ],
)
def test_other_names_of_unitxt_mean_the_same_settings(monkeypatch, theirs, ours):
    monkeypatch.delenv(f"PROCTOR_{ours.upper()}", raising=False)
    monkeypatch.setenv(f"UNITXT_{theirs.upper()}", "/of/the/environment")
    assert str(getattr(settings, ours)) == str(getattr(settings, theirs)) == "/of/the/environment"
    with settings.context(**{theirs: "/of/a/block"}):
        assert getattr(settings, ours) == "/of/a/block"
    setattr(settings, theirs, "/of/a/program")
    assert getattr(settings, ours) == "/of/a/program"


def test_the_level_that_lm_eval_logs_at_counts_where_nothing_else_says_one(monkeypatch):
    for name in ("PROCTOR_DEFAULT_VERBOSITY", "UNITXT_DEFAULT_VERBOSITY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LMEVAL_LOG_LEVEL", "ERROR")
    assert settings.default_verbosity == "ERROR"
    monkeypatch.setenv("PROCTOR_DEFAULT_VERBOSITY", "debug")
    assert settings.default_verbosity == "debug"


def test_an_old_name_beside_the_one_of_today_is_refused(monkeypatch):
    monkeypatch.delenv("PROCTOR_CATALOGS", raising=False)
    monkeypatch.setenv("UNITXT_CATALOGS", "/new")
    monkeypatch.setenv("UNITXT_ARTIFACTORIES", "/old")
    with pytest.raises(SettingsError, match=r"UNITXT_CATALOGS and UNITXT_ARTIFACTORIES[\s\S]*PROCTOR_CATALOGS"):
        _ = settings.catalogs
    monkeypatch.setenv("PROCTOR_CATALOGS", "/ours")
    assert settings.catalogs == "/ours"


def test_a_variable_that_is_called_as_ours_and_that_nobody_reads_is_said(monkeypatch):
    monkeypatch.setenv("PROCTOR_CACHEDIR", "x")
    monkeypatch.setenv("PROCTOR_LOADER_CACHE_SIZE", "3")  # of Unitxt's programs alone
    monkeypatch.setenv("PROCTOR_JUDGE", "dummy")
    monkeypatch.setenv("PROCTOR_BIN", "/bin")
    said = "\n".join(idle_variables())
    assert "PROCTOR_BIN has no effect; leave it out" in said, "what all begin with is no likeness"
    assert "PROCTOR_CACHEDIR has no effect; did you mean 'PROCTOR_CACHE_DIR'" in said
    assert "PROCTOR_LOADER_CACHE_SIZE" in said
    assert "variable PROCTOR_JUDGE" not in said
