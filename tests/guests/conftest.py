import pytest

from proctor import compat


@pytest.fixture
def installed():
    """Other systems' names can be imported, and cannot afterwards."""
    compat.install()
    yield
    compat.uninstall()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Puts packages of a name on the path, as if they were installed: by file and its text."""

    def put(files):
        for name, text in files.items():
            path = tmp_path / "installed" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            for above in path.relative_to(tmp_path / "installed").parents[:-1]:
                (tmp_path / "installed" / above / "__init__.py").touch()
        monkeypatch.syspath_prepend(str(tmp_path / "installed"))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"), prepend=":")
        return tmp_path / "installed"

    return put
