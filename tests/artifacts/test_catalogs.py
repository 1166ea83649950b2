import json
import logging
from importlib import import_module

import pytest

from proctor.artifacts import (
    Artifact,
    ArtifactLink,
    LocalCatalog,
    add_link_to_catalog,
    add_to_catalog,
    catalogs,
    fetch_artifact,
    get_from_catalog,
    register_catalog,
    register_local_catalog,
    unregister_catalog,
)
from proctor.artifacts.catalogs import read_json
from proctor.errors import ArtifactError, LinkError, UnknownArtifactError, ValidationError
from proctor.logs import get_logger
from proctor.settings import settings

module = import_module("proctor.artifacts.catalogs")  # the package has a function of this name


class Pebble(Artifact):
    weight: int = 1
    inner: Artifact | None = None


@pytest.fixture
def catalog(tmp_path):
    catalog = register_local_catalog(tmp_path)
    yield catalog
    unregister_catalog(catalog)


def test_saved_and_fetched(catalog):
    add_to_catalog(Pebble(weight=5), "stones.pebble", catalog, verbose=False)
    assert get_from_catalog("stones.pebble").weight == 5
    assert (catalog.folder / "stones" / "pebble.json").is_file()
    assert list(catalog.names()) == ["stones.pebble"]


def test_overwrites_and_nested_names(catalog):
    add_to_catalog(Pebble(), "a", catalog, verbose=False)
    outer = fetch_artifact("a[weight=7,inner=a[weight=9]]")
    assert (outer.weight, outer.inner.weight) == (7, 9)
    assert outer.artifact_id == "a[weight=7,inner=a[weight=9]]"
    assert outer.to_dict()["inner"] == "a[weight=9]"
    with pytest.raises(ValidationError, match="did you mean 'weight'"):
        fetch_artifact("a[wieght=7]")


def test_nothing_is_overwritten_by_accident(catalog):
    add_to_catalog(Pebble(), "a", catalog, verbose=False)
    with pytest.raises(ArtifactError, match="already exists"):
        add_to_catalog(Pebble(weight=2), "a", catalog, verbose=False)
    add_to_catalog(Pebble(weight=2), "a", catalog, overwrite=True, verbose=False)
    assert get_from_catalog("a").weight == 2


@pytest.mark.parametrize("name", ["../evil", "a/b", "", "a..b", ".a", "a b"])
def test_names_stay_inside_the_folder(catalog, name):
    with pytest.raises(ArtifactError):
        add_to_catalog(Pebble(), name, catalog, verbose=False)


def test_precedence_environment_then_newest_then_built_in(tmp_path, monkeypatch):
    folders = [tmp_path / name for name in ("old", "new", "env1", "env2")]
    for weight, folder in enumerate(folders):
        LocalCatalog(folder).save("x", Pebble(weight=weight).to_dict())
    registered = [register_local_catalog(folder) for folder in folders[:2]]
    try:
        assert fetch_artifact("x").weight == 1
        monkeypatch.setenv("PROCTOR_CATALOGS", f"{folders[2]}:{folders[3]}")
        assert fetch_artifact("x").weight == 3
        assert [each.title for each in catalogs()[-3:]] == ["built-in", "of installed packages", "of Unitxt's package"]
    finally:
        for each in registered:
            unregister_catalog(each)


@pytest.fixture
def logged():
    """What the package logs, as (level, message)."""
    found = []

    class Keeper(logging.Handler):
        def emit(self, record):
            found.append((record.levelname, record.getMessage()))

    logger, keeper = get_logger(), Keeper()
    logger.addHandler(keeper)
    yield found
    logger.removeHandler(keeper)


def test_links_pass_overwrites_on_and_warn_their_users(catalog, logged):
    add_to_catalog(Pebble(), "new_name", catalog, verbose=False)
    add_link_to_catalog("new_name", "old_name", deprecate=True, catalog=catalog)
    assert not [message for level, message in logged if level == "WARNING"]
    assert fetch_artifact("old_name[weight=4]").weight == 4
    assert ("WARNING", "'old_name' is deprecated; use 'new_name'") in logged


def test_a_link_may_change_what_it_links_to(catalog):
    add_to_catalog(Pebble(), "plain", catalog, verbose=False)
    add_to_catalog(ArtifactLink(to="plain[weight=4]"), "heavy", catalog, verbose=False)
    add_to_catalog(ArtifactLink(to={"__type__": "pebble", "weight": 7}), "own", catalog, verbose=False)
    assert [fetch_artifact(name).weight for name in ("heavy", "heavy[weight=5]", "own")] == [4, 5, 7]
    (catalog.folder / "lost.json").write_text('{"__type__": "artifact_link"}')
    with pytest.raises(LinkError, match="the link 'lost' has no 'to'"):
        fetch_artifact("lost")


def test_circles_are_named(catalog):
    add_to_catalog(ArtifactLink(to="b"), "a", catalog, verbose=False)
    add_to_catalog(ArtifactLink(to="a"), "b", catalog, verbose=False)
    with pytest.raises(LinkError, match="a → b → a"):
        fetch_artifact("a")


def test_malformed_files_say_where(catalog):
    (catalog.folder / "bad.json").write_text('{"__type__": "pebble",\n  "weight": }')
    with pytest.raises(ArtifactError) as caught:
        fetch_artifact("bad")
    assert f"{catalog.folder / 'bad.json'}:2:13" in str(caught.value)
    assert "^" in str(caught.value)
    (catalog.folder / "wrong.json").write_text(json.dumps({"__type__": "pebble", "weight": "heavy"}))
    with pytest.raises(ArtifactError, match="wrong.json"):
        fetch_artifact("wrong")
    (catalog.folder / "list.json").write_text("[]")
    with pytest.raises(ArtifactError, match="does not hold a JSON object"):
        fetch_artifact("list")


def test_a_changed_file_is_read_again(catalog):
    path = add_to_catalog(Pebble(weight=1), "a", catalog, verbose=False)
    assert fetch_artifact("a").weight == 1
    path.write_text(json.dumps({"__type__": "pebble", "weight": 12345}))
    assert fetch_artifact("a").weight == 12345


def test_unknown_names_come_with_the_closest(catalog):
    add_to_catalog(Pebble(), "stones.pebble", catalog, verbose=False)
    with pytest.raises(UnknownArtifactError, match=r"did you mean 'stones\.pebble'"):
        fetch_artifact("stones.peble")


def test_deprecated_artifacts_are_told_when_they_are_built(catalog, logged):
    LocalCatalog(catalog.folder).save("old", {"__type__": "pebble", "__deprecated_msg__": "use another"})
    assert fetch_artifact("old").__deprecated_msg__ == "use another"
    assert logged == [("WARNING", "use another")]


def test_debug_says_which_catalog_an_artifact_is_from(catalog, logged):
    add_to_catalog(Pebble(), "a", catalog, verbose=False)
    with settings.context(default_verbosity="debug"):
        fetch_artifact("a[weight=2]")
    assert ("DEBUG", f"'a' is loaded from {catalog.folder / 'a.json'}") in logged


def test_a_catalog_that_is_registered_again_is_known_once(tmp_path):
    first, again = register_local_catalog(tmp_path), register_local_catalog(tmp_path)
    assert first not in catalogs()
    assert again in catalogs()
    unregister_catalog(first)
    assert not {first, again} & set(catalogs()), "by its folder"
    with pytest.raises(ArtifactError, match="there is no folder"):
        register_local_catalog(tmp_path / "nowhere")


def test_a_catalog_without_a_folder_is_unregistered_by_itself(tmp_path):
    class Own:
        title = "own"

        def path_of(self, name):
            return None

        def names(self):
            return ()

    one, other = Own(), Own()
    local = register_local_catalog(tmp_path)
    for each in (one, other):
        register_catalog(each)
    unregister_catalog(one)
    assert one not in catalogs()
    assert other in catalogs()
    assert local in catalogs()
    unregister_catalog(other)
    unregister_catalog(local)


def test_saving_says_so_and_gives_the_artifact_its_name(tmp_path, logged):
    pebble = Pebble(weight=5)
    with settings.context(default_verbosity="info"):
        path = add_to_catalog(pebble, "stones.pebble", catalog_path=tmp_path)
    assert path == tmp_path / "stones" / "pebble.json"
    assert (pebble.artifact_id, get_from_catalog("stones.pebble", catalog_path=tmp_path).weight) == ("stones.pebble", 5)
    assert any("stones.pebble saved" in message for _, message in logged)
    add_link_to_catalog("stones.pebble", "stones.stone", catalog_path=tmp_path)
    assert "__deprecated_msg__" not in json.loads((tmp_path / "stones" / "stone.json").read_text())


@pytest.mark.parametrize(
    "content, message, line",
    [("[1]", "does not hold a JSON object", 1), ('{\n"a": }', "not valid JSON", 2), (b"\xff", "not UTF-8", 0)],
)
def test_a_file_that_is_no_artifact_says_where(tmp_path, content, message, line):
    path = tmp_path / "x.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ArtifactError, match=message) as caught:
        read_json(path)
    assert caught.value.diagnostics[0].location.line == line


def test_artifacts_of_installed_packages_are_found_last(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "exam_folders", lambda: [tmp_path / "a", tmp_path / "b"])
    for folder, name in (("a", "x.one"), ("b", "x.two"), ("b", "x.one")):
        LocalCatalog(tmp_path / folder).save(name, Pebble(weight=len(folder)).to_dict(), overwrite=True)
    assert list(module.BROUGHT.names()) == ["x.one", "x.two"]
    assert module.BROUGHT.path_of("x.one") == tmp_path / "a" / "x" / "one.json"
    assert module.BROUGHT.path_of("x.two") == tmp_path / "b" / "x" / "two.json"
    assert module.BROUGHT.path_of("x.three") is None


def test_a_class_of_an_installed_package_is_named_like_a_metric(monkeypatch):
    monkeypatch.setattr(module, "plugins", lambda _: {"own_metric": None, "accuracy": None})
    assert module.type_of_plugin("own_metric") == module.type_of_plugin("metrics.own_metric") == "own_metric"
    assert module.type_of_plugin("metrics.accuracy") is None, "a catalog has it"
    assert module.type_of_plugin("metrics.nowhere") is None


def test_files_that_no_name_means_are_not_listed(tmp_path):
    catalog = LocalCatalog(tmp_path)
    catalog.save("a.b", {"__type__": "pebble"})
    for odd in ("c.d.json", "no name.json", "x/y.z/w.json"):
        (tmp_path / odd).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / odd).write_text("{}")
    assert list(catalog.names()) == ["a.b"]
    assert (tmp_path / "a" / "b.json").read_text() == '{\n    "__type__": "pebble"\n}\n'
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError, match=r"'file\.x' cannot be saved"):
        catalog.save("file.x", {})


def test_a_name_that_nothing_has_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(UnknownArtifactError, match="no catalog has 'metrics.acuracy'(.|\n)*searched: .*built-in"):
        fetch_artifact("metrics.acuracy")
    with settings.context(catalogs=str(tmp_path / "gone")):
        assert [each.folder.name for each in module.missing_catalogs()] == ["gone"]
        with pytest.raises(UnknownArtifactError, match="there is no such folder"):
            fetch_artifact("metrics.acuracy")


def test_a_link_takes_the_place_of_another_where_that_is_said(catalog):
    for name in ("one", "two"):
        add_to_catalog(Pebble(weight=len(name)), name, catalog, verbose=False)
    add_link_to_catalog("one", "mine", catalog=catalog, verbose=False)
    with pytest.raises(ArtifactError, match="mine"):
        add_link_to_catalog("two", "mine", catalog=catalog, verbose=False)
    add_link_to_catalog("two", "mine", catalog=catalog, overwrite=True, verbose=False)
    assert json.loads((catalog.folder / "mine.json").read_text())["to"] == "two"


def test_a_metric_of_a_plugin_is_near_a_name_that_no_catalog_has(monkeypatch):
    monkeypatch.setattr(module, "plugins", lambda _: {"loudness_of_shouts": None})
    with pytest.raises(UnknownArtifactError, match="did you mean 'loudness_of_shouts'"):
        module.find("loudness_of_shuots")
