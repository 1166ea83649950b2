"""What options of a library name is read, so it passes the gate like the model itself."""

from proctor.effects import author_of_file, written_by
from proctor.engines import HFEngine
from proctor.engines.model_places import places_in


def test_paths_are_found_wherever_they_stand(tmp_path):
    options = {"a": "sdpa", "b": {"c": ["org/model", "/etc", "../x"]}, "d": (str(tmp_path), 5, None), "e": "~/x"}
    assert list(places_in(options)) == ["/etc", "../x", str(tmp_path), "~/x"]


def test_an_engine_of_a_file_asks_for_what_its_options_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with written_by(author_of_file(tmp_path / "engine.json")):
        engine = HFEngine(model="org/model", model_kwargs={"assistant": {"path": "/etc/secrets"}})
    assert "read:/etc/secrets" in [each.grant for each in engine.effects()]
