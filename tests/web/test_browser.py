"""The app in a real browser: Chromium through Playwright, where both are installed."""

import json
import os
import shutil
import threading
import time
from pathlib import Path

import pytest
import uvicorn

from proctor.web.app import create_app

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(os.environ.get("PROCTOR_TEST_AXE", "node_modules/axe-core/axe.min.js"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def address(runs):
    """The address of the app, served on loopback."""
    config = uvicorn.Config(create_app([runs]), port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A page that fails the test when the browser complains: errors in scripts, refusals by the policy."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


def test_from_the_list_to_one_instance_by_keys_alone(page, address):
    page.goto(f"{address}/runs")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*")
    page.get_by_role("link", name="Worst first").click()
    page.wait_for_url("**/samples?order=score")
    page.keyboard.press("/")
    page.keyboard.type("question 17")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=question+17*")
    assert page.get_by_role("status").inner_text().startswith("1 found")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/samples/17?*")
    assert "What is question 17?" in page.locator("pre").first.inner_text()
    page.keyboard.press("u")
    page.wait_for_url("**/samples?*")
    assert "question+17" in page.url.replace("%20", "+")


def test_j_and_k_go_through_the_instances(page, address, runs):
    page.goto(f"{address}/runs")
    page.get_by_role("link", name="first").click()
    page.get_by_role("link", name="All instances").click()
    page.locator("tr[data-row] a").first.click()
    page.wait_for_url("**/samples/0*")
    page.keyboard.press("j")
    page.wait_for_url("**/samples/1*")
    page.keyboard.press("k")
    page.wait_for_url("**/samples/0*")


def test_the_list_of_keys_opens_and_closes(page, address):
    page.goto(f"{address}/runs")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").is_hidden()


def test_two_runs_are_chosen_and_compared(page, address):
    page.goto(f"{address}/runs")
    for name in ("first", "second"):
        page.get_by_label(f"Compare {name}").check()
    page.get_by_role("button", name="Compare the chosen runs").click()
    page.wait_for_url("**/compare?*")
    assert page.locator("table svg").count() == 1
    page.locator("tbody td a").nth(1).click()
    assert page.locator("section.pair").count() in {1, 2}


def test_markup_from_a_model_does_nothing(page, address):
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.goto(f"{address}/runs")
    page.get_by_role("link", name="first").click()
    page.get_by_role("link", name="nasty").click()
    page.locator("tr[data-row] a").first.click()
    assert "<script>alert(1)</script>" in page.locator("section", has_text="Output").locator("pre").first.inner_text()
    assert alerts == []


def test_progress_moves_without_a_reload(page, address, runs):
    folder = runs / "live"
    folder.mkdir()
    (folder / "run.yaml").write_text("model: tiny\ntasks: [capitals]\n")

    def report(done):
        (folder / ".progress.json").write_text(json.dumps({"total": 40, "done": done, "failed": 0, "rate": 2.5}))

    report(10)
    page.goto(f"{address}/runs")
    page.get_by_text("10 of 40").wait_for()
    report(30)
    page.get_by_text("30 of 40").wait_for(timeout=10_000)


def test_a_prompt_is_explored(page, address):
    page.goto(f"{address}/explore?q=samples")
    page.get_by_role("link", name="samples.science", exact=True).click()
    page.wait_for_url("**/explore/exam?*")
    assert page.locator(".legend li").count() >= 5
    colour = page.locator("span.part-question").first.evaluate("node => getComputedStyle(node).color")
    assert colour == "rgb(182, 93, 5)"
    page.get_by_role("link", name="next →").click()
    page.wait_for_url("**doc=1*")


PAGES = ["/runs", "/compare", "/explore?q=samples", "/explore/exam?exam=samples.science"]


def all_pages(address, page):
    page.goto(f"{address}/runs")
    first = page.get_by_role("link", name="first").get_attribute("href")
    second = page.get_by_role("link", name="second").get_attribute("href")
    ids = [link.rpartition("/")[2] for link in (first, second)]
    compared = f"/compare?run={ids[0]}&run={ids[1]}&exam=capitals&way=worse"
    return [*PAGES, first, f"{first}/samples", f"{first}/samples/121", f"{first}/samples/120", compared]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_narrow_screens_and_are_accessible(browser, address, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 400, "height": 800})
    page = context.new_page()
    for path in all_pages(address, page):
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, path
        assert page.locator("h1").count() == 1
        if AXE.is_file():
            page.evaluate(AXE.read_text(encoding="utf-8"))
            found = page.evaluate("axe.run()")
            serious = [each for each in found["violations"] if each["impact"] in {"serious", "critical"}]
            assert [(path, each["id"], [node["html"] for node in each["nodes"][:3]]) for each in serious] == []
    context.close()
