"""``proctor view --export``: a folder of pages that needs no server, with links that lead to files."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests_web_support import NASTY, grid_run, sample, write_run

from proctor.cli.__main__ import main
from proctor.errors import UsageError
from proctor.web import site
from proctor.web.site import export_site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class _Page(HTMLParser):
    """The tags of a page, and where it leads."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.links += [value for name, value in attrs if name in ("href", "src", "action")]


def _pages(folder):
    return {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}


def _export(runs, folder):
    notes = []
    export_site([runs], folder, notes.append)
    return notes


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Two runs of the same exam, one with hostile answers, and one with groups and a suite."""
    base = tmp_path_factory.mktemp("exported")
    scored = {"kind": "choose", "continuations": [" Paris", NASTY], "output": [{"log_likelihood": -0.5}] * 2, "gold": 1}
    first = [sample(number) for number in range(101)]
    first += [sample(0, "nasty", output=NASTY, prediction=NASTY, references=[NASTY]), sample(1, "nasty", 0.0, **scored)]
    write_run(base / "runs" / "first", first)
    second = [sample(number, output=f"other {number}") for number in range(10)]
    second[3] = sample(3, score=0.0, output="worse three")
    write_run(base / "runs" / "second", second, model="other")
    grid_run(base / "runs" / "grid")
    assert _export(base / "runs", base / "site") == []
    return base / "site"


def test_every_link_leads_to_a_file_of_the_folder(exported):
    pages = _pages(exported)
    links = [(path, link) for path, page in pages.items() for link in page.links if not link.startswith(("#", "data:"))]
    assert len(links) > 500
    for path, link in links:
        assert not re.match(r"[a-z]+:|/", link), (path, link)
        assert (path.parent / unquote(link.partition("#")[0])).resolve().is_file(), (path, link)
        assert (path.parent / link).resolve().is_relative_to(exported.resolve())


def test_all_that_the_viewer_shows_of_runs_is_there(exported):
    names = [path.relative_to(exported).as_posix() for path in _pages(exported)]
    assert {"index.html", "report.html"} <= set(names)
    assert sum(bool(re.fullmatch(r"runs/\w+/index\.html", name)) for name in names) == 3
    assert sum(bool(re.fullmatch(r"runs/\w+/samples/\d+\.html", name)) for name in names) == 103 + 10 + 45
    lists = [path for path in exported.glob("runs/*/samples*.html") if "page 3 of 3" in path.read_text()]
    assert lists
    flips = [text for path in exported.glob("compare/*.html") if 'id="flips"' in (text := path.read_text())]
    assert any("worse three" in text for text in flips)


def test_what_needs_a_server_is_left_out(exported):
    for path, page in _pages(exported).items():
        tags = [tag for tag, _ in page.tags]
        forms = [attributes for tag, attributes in page.tags if tag == "form"]
        assert all(each.get("method") == "dialog" for each in forms), path
        assert not {"input", "select", "textarea", "iframe"} & set(tags), path
        assert not any("data-copy" in attributes or "data-live" in attributes for _, attributes in page.tags)
        assert "Explore" not in path.read_text()


def test_answers_of_a_model_are_text_and_the_policy_stands_in_each_page(exported):
    seen = 0
    for path, page in _pages(exported).items():
        text = path.read_text(encoding="utf-8")
        seen += "&lt;script&gt;alert(1)" in text
        assert "<script>" not in text
        assert "\u202e" not in text
        assert [attributes.get("src") for tag, attributes in page.tags if tag == "script"] in (
            [],
            [[each for each in page.links if each.endswith("app.js")][0]] if "app.js" in text else [],
        )
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
        metas = [attributes.get("content", "") for tag, attributes in page.tags if tag == "meta"]
        assert any(each.startswith("default-src 'none'") for each in metas), path
    assert seen > 3
    assert NASTY not in "".join(path.read_text() for path in exported.rglob("*.html"))


def test_a_folder_with_other_things_is_left_alone(runs, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="is not empty") as caught:
        _export(runs, tmp_path / "mine")
    assert "--export" in caught.value.diagnostics[0].hint
    assert [each.name for each in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    (tmp_path / "mine" / ".proctor-site").symlink_to(tmp_path / "mine" / "letter.txt")
    with pytest.raises(UsageError, match="is not empty"):
        _export(runs, tmp_path / "mine")
    with pytest.raises(UsageError, match="is a file"):
        _export(runs, tmp_path / "mine" / "letter.txt")


@pytest.fixture
def few(tmp_path):
    """Two runs of a few questions."""
    for name in ("first", "second"):
        write_run(tmp_path / "runs" / name, [sample(number, output=name) for number in range(3)], model=name)
    return tmp_path / "runs"


def test_exporting_again_replaces_the_pages_and_nothing_else(few, tmp_path):
    folder, outside = tmp_path / "site", tmp_path / "outside"
    _export(few, folder)
    (folder / "notes.html").write_text("mine")
    outside.mkdir()
    (outside / "old.html").write_text("theirs")
    (folder / "compare" / "link").symlink_to(outside)
    shutil.rmtree(few / "second")
    _export(few, folder)
    after = set(_pages(folder))
    assert (folder / "notes.html").read_text() == "mine"
    assert (outside / "old.html").read_text() == "theirs"
    assert len([path for path in after if path.match("runs/*/index.html")]) == 1
    assert not list((folder / "compare").glob("*.html"))


def test_links_in_the_folder_are_not_written_through(few, tmp_path):
    folder, outside = tmp_path / "site", tmp_path / "outside"
    _export(few, folder)
    outside.mkdir()
    shutil.rmtree(folder / "static")
    (folder / "static").symlink_to(outside)
    with pytest.raises(OSError, match="link"):
        _export(few, folder)
    assert not list(outside.iterdir())


def test_a_run_with_very_many_pages_is_cut_and_said(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(site, "MOST_PAGES", 20)
    notes = _export(runs, tmp_path / "site")
    assert "first has more than 20 pages: the others are in proctor view only" in notes
    for path, page in _pages(tmp_path / "site").items():
        for link in page.links:
            assert link.startswith("#") or (path.parent / link.partition("#")[0]).resolve().is_file()


def test_the_command_exports_runs_in_the_order_that_was_given(few, tmp_path, capsys):
    folder = tmp_path / "for a colleague"
    assert main(["view", str(few / "second"), str(few / "first"), "--export", str(folder)]) == 0
    assert "open" in capsys.readouterr().err
    compared = [path.read_text() for path in folder.glob("compare/*.html")]
    assert any("first beside second" in text for text in compared)
    assert main(["view", str(few), "--export", str(folder), "--port", "1"]) == 2
    assert "--port has no effect with --export" in capsys.readouterr().err


def test_damaged_and_unfinished_runs_are_exported_too(tmp_path):
    write_run(tmp_path / "runs" / "good", [sample(0)])
    (tmp_path / "runs" / "stopped").mkdir()
    (tmp_path / "runs" / "stopped" / "run.yaml").write_text("model: x\ntasks: [y]\n")
    write_run(tmp_path / "runs" / "bad", [sample(0)])
    (tmp_path / "runs" / "bad" / "results.json").write_text("{")
    _export(tmp_path / "runs", tmp_path / "site")
    assert len(list((tmp_path / "site" / "runs").glob("*/index.html"))) == 3


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_opens_from_a_file_with_its_styles_and_keys(exported):
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page, complaints = browser.new_page(), []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: complaints.append(request.url) if request.url[:5] != "file:" else None)
        page.goto((Path(exported) / "index.html").as_uri())
        assert page.evaluate("getComputedStyle(document.querySelector('header')).position") == "sticky"
        page.get_by_role("link", name="first", exact=True).click()
        page.get_by_role("link", name="All instances").click()
        page.get_by_role("heading", name="Instances").wait_for()
        page.wait_for_load_state()
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="instance 0").wait_for()
        page.wait_for_load_state()
        page.keyboard.press("j")
        page.get_by_role("heading", name="instance 1").wait_for()
        page.get_by_role("link", name="Compare", exact=True).click()
        page.get_by_role("heading", name="Compare").wait_for()
        browser.close()
        assert complaints == []
