"""The app in a real browser: Chromium through Playwright, where both are installed.

The tests follow what a user does, point by point: open the app, explore prompts, look at runs, compare them, read a
report, and do all that by keys, on narrow screens and with a screen reader.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import uvicorn
from tests_web_support import judged, sample, write_run

from proctor.cli.__main__ import main
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
def served(runs, grid, third):
    """The address of the app, served on loopback, and its token."""
    write_run(runs / "judged", [judged(0), judged(1, None)])
    app = create_app([runs])
    config = uvicorn.Config(app, port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", app.state.access.token
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def address(served):
    """The address of the app."""
    return served[0]


@pytest.fixture
def page(browser, served):
    """A page that fails the test when the browser complains: errors in scripts, refusals by the policy.

    It has been let in with the token, as the browser is that the command opens.
    """
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    let_in(page, served)
    yield page
    context.close()
    assert complaints == []


def let_in(page, served):
    """Open the address that the command prints."""
    page.goto("{}/?token={}".format(*served))
    assert page.url == f"{served[0]}/runs"


def open_run(page, address, name):
    page.goto(f"{address}/runs")
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", level=1, name=name).wait_for()


# -- 1. open ----------------------------------------------------------------------------------------------------------


def test_the_command_opens_one_run(page, runs):
    command = [sys.executable, "-m", "proctor", "view", str(runs / "first"), "--no-open", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            page.goto(process.stderr.readline().strip())
            assert page.get_by_role("heading", level=1).inner_text().startswith("first")
            page.get_by_role("link", name="All instances").click()
            page.get_by_role("status").wait_for()
        finally:
            page.goto("about:blank")
            process.terminate()


def test_other_sites_can_neither_frame_nor_read_nor_link_to_anything_but_the_start_page(browser, served, tmp_path):
    address, token = served
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/?token={token}")
    page.wait_for_url(f"{address}/runs")
    with _foreign_site(address) as foreign:  # another port of this machine: the same site, for cookies
        page.goto(foreign)
        page.wait_for_function("document.title === 'tried'")
        assert page.locator("#out").inner_text() == "TypeError"
        assert "capitals" not in page.frames[1].content()
        page.get_by_role("link", name="deep").click()
        assert "Another site asked" in page.content()
        page.goto(foreign)
        page.get_by_role("link", name="start without token").click()
        assert "Another site asked" in page.content()
    context.clear_cookies()
    with _foreign_site(f"{address}/?token={token}") as foreign:
        page.goto(foreign)
        page.get_by_role("link", name="as it is").click()
        page.wait_for_url(f"{address}/runs")
        assert page.get_by_role("heading", level=1).inner_text() == "Runs"
    context.close()


@contextmanager
def _foreign_site(address):
    place = address.partition("/?")[0]
    body = f"""<iframe src="{place}/runs"></iframe><a href="{place}/explore">deep</a> <a href="{place}/">start without
        token</a> <a href="{address}">as it is</a><p id="out"></p><script>fetch("{place}/runs", {{credentials: "include"}})
        .then(() => "read", error => error.name).then(text => {{ out.textContent = text; document.title = "tried"; }});
        </script>"""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()


# -- 2. explore -------------------------------------------------------------------------------------------------------


def test_an_exam_is_found_and_its_prompt_shown_in_colours(page, address):
    page.goto(f"{address}/runs")
    page.get_by_role("link", name="Explore").click()
    page.get_by_label("Search names").fill("science letters")
    page.get_by_label("Kind").select_option("exam")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="samples.science", exact=True).click()
    page.wait_for_url("**/explore/exam?*")
    assert page.locator(".legend li").count() >= 5
    colour = page.locator("span.part-question").first.evaluate("node => getComputedStyle(node).color")
    assert colour == "rgb(182, 93, 5)"
    assert page.locator(".title", has_text="characters").is_visible()
    assert page.locator("li", has_text="gold").count() == 1
    page.get_by_role("link", name="next →").click()
    page.wait_for_url("**doc=1*")
    page.get_by_role("link", name="← previous").click()
    page.wait_for_url("**doc=0*")


def test_template_format_system_prompt_demos_and_split_are_chosen(page, address):
    page.goto(f"{address}/explore/exam?exam=samples.cards.sentiment")
    page.get_by_label("Template").first.fill("samples.templates.sentiment")
    page.get_by_label("Format").first.fill("formats.chat_api")
    page.get_by_label("System prompt").first.fill("Be brief.")
    page.get_by_label("Demos").first.fill("2")
    page.get_by_label("Split").first.fill("test")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**num_demos=2*")
    assert page.locator("section.message h3").all_inner_texts()[0].lower() == "system"
    assert "Be brief." in page.locator("pre.text").first.inner_text()
    assert page.locator("span.part-demo-answer").count() == 2


def test_an_answer_is_tried_and_two_settings_stand_side_by_side(page, address):
    page.goto(f"{address}/explore/exam?exam=samples.arithmetic")
    page.get_by_text("Another setting beside it").click()
    page.locator("input[name=other_num_demos]").fill("1")
    page.get_by_text("Try an answer, count tokens").click()
    page.get_by_label("Try an answer").fill("It must be 12.")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**other_num_demos=1*")
    assert page.locator("section.view").count() == 2
    assert page.locator("#difference del").count() >= 1
    tried = page.locator("div.card", has_text="Your answer").first
    assert "12" in tried.locator("dd").first.inner_text()


def test_code_is_copied_and_runs(page, address, tmp_path, monkeypatch, capsys):
    page.goto(f"{address}/explore/exam?exam=samples.sentiment&num_demos=1")
    shown = page.locator("span.part-question").first.inner_text()
    page.get_by_role("heading", name="lm-eval YAML").get_by_role("button").click()
    page.get_by_role("button", name="Copied").wait_for()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(page.evaluate("navigator.clipboard.readText()"))
    page.get_by_role("heading", name="Show it").get_by_role("button").click()
    sync_api.expect(page.locator("button[data-copy]").first).to_have_text("Copied")
    _, *arguments = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    prompts = []
    for given in (arguments, ["show", "mine.yaml", "--docs", "3"]):
        assert main([*given, "--json"]) == 0
        prompts.append([json.loads(line)["prompt"] for line in capsys.readouterr().out.splitlines()])
    assert prompts[0] == prompts[1]
    assert shown in prompts[0][0]


def test_warnings_are_seen(page, address):
    page.goto(f"{address}/explore/exam?exam=samples.science&num_demos=0")
    assert "not in the prompt" in page.get_by_role("list", name="Warnings").inner_text()
    page.goto(f"{address}/explore/exam?exam=samples.sceince")
    assert "samples.science" in page.get_by_role("alert").inner_text()


# -- 3. runs ----------------------------------------------------------------------------------------------------------


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
    page.get_by_role("link", name="live").click()
    page.get_by_text("30 of 40 answered").wait_for()
    report(40)
    page.get_by_text("40 of 40 answered").wait_for(timeout=10_000)


def test_a_cell_of_the_heat_map_leads_to_its_instances(page, address):
    open_run(page, address, "grid")
    assert page.locator("table.heat td").count() == 4
    best = page.locator("table.heat td.shade-9")
    assert "1.0000" in best.inner_text()
    best.get_by_role("link").click()
    assert page.get_by_role("status").inner_text().startswith("10 found")
    assert page.get_by_label("Group").input_value() == "num_demos=2, template=templates.long"


def test_instances_are_filtered_by_suite_group_score_and_failure(page, address):
    open_run(page, address, "grid")
    page.get_by_role("link", name="atlas").click()
    assert page.get_by_role("status").inner_text().startswith("40 found")
    page.get_by_label("Group").select_option("topic=rivers")
    page.get_by_label("Score from").fill("0.5")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**group=topic*")
    assert page.get_by_role("status").inner_text().startswith("2 found")
    page.get_by_role("link", name="Clear").click()
    page.wait_for_url(lambda url: url.endswith("/samples"))
    assert page.get_by_role("status").inner_text().startswith("45 found")
    open_run(page, address, "first")
    page.get_by_role("link", name="Worst first").click()
    page.wait_for_url("**order=score")
    assert "timeout" in page.locator("tr[data-row]").first.inner_text()


def test_a_run_shows_intervals_by_group(page, address):
    open_run(page, address, "grid")
    region = page.get_by_role("region", name="maps by topic")
    assert region.locator("svg").count() == 2
    assert "0.1000 to 0.5000" in region.inner_text()
    region.get_by_role("link", name="topic=hills").click()
    assert page.get_by_role("status").inner_text().startswith("30 found")


def test_likelihoods_of_choices_are_bars(page, address):
    open_run(page, address, "first")
    page.get_by_role("link", name="nasty").click()
    page.locator("tr[data-row] a").nth(1).click()
    table = page.get_by_role("table", name="Choices and their share")
    widths = [float(bar.get_attribute("width")) for bar in table.locator("rect.bar").all()]
    assert widths[0] > widths[1] > 0
    assert table.get_by_text("gold").is_visible()


def test_a_judge_is_read(page, address):
    open_run(page, address, "judged")
    page.get_by_role("link", name="letters").click()
    page.locator("tr[data-row] a").first.click()
    judge = page.locator("section.judge")
    assert "It says please" in judge.inner_text()
    question = judge.get_by_text("polite?").first
    assert not question.is_visible()
    judge.get_by_text("What the judge was asked").click()
    assert "Is <b>this</b> polite?" in question.inner_text()


def test_markup_from_a_model_does_nothing(page, address):
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    open_run(page, address, "first")
    page.get_by_role("link", name="nasty").click()
    page.locator("tr[data-row] a").first.click()
    assert "<script>alert(1)</script>" in page.get_by_label("Output", exact=True).inner_text()
    assert alerts == []


# -- 4. compare -------------------------------------------------------------------------------------------------------


def test_runs_are_chosen_and_compared(page, address):
    page.goto(f"{address}/runs")
    for name in ("first", "second"):
        page.get_by_label(f"Compare {name}").check()
    page.get_by_role("button", name="Compare the chosen runs").click()
    page.wait_for_url("**/compare?*")
    assert page.locator("table svg").count() == 1
    page.get_by_role("link", name="2 worse in second").or_(page.get_by_role("link", name="1 worse in first")).click()
    assert page.locator("section.pair").count() in {1, 2}


def test_instances_of_a_comparison_by_keys(page, address):
    page.goto(f"{address}/runs")
    for name in ("first", "second"):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("button", name="Compare the chosen runs").click()
    page.get_by_role("link", name=re.compile("^all 119 instances of")).click()
    page.get_by_role("heading", name="those that flipped first").wait_for()
    page.wait_for_load_state()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator(".pair.selected").get_attribute("id") == page.locator(".pair").nth(1).get_attribute("id")
    page.keyboard.press("f")
    page.get_by_role("heading", name="3 flips").wait_for()
    assert page.locator(".pair").count() == 3


def test_three_runs_against_a_baseline(page, address):
    page.goto(f"{address}/compare")
    page.get_by_label("Baseline").select_option("second")
    for name in ("first", "third"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url("**baseline=*")
    assert "second" in page.get_by_role("table").locator("caption").inner_text()
    assert page.locator("tbody tr").count() == 2
    page.get_by_role("link", name="better in third").click()
    page.wait_for_url("**#flips")
    pair = page.locator("section.pair").first
    assert pair.locator("h4").count() == 3
    assert "third 3" in pair.inner_text()
    pair.get_by_role("link", name="third").click()
    page.wait_for_url("**/samples/3")


# -- 5. report --------------------------------------------------------------------------------------------------------


def test_a_report_opens_from_a_file_and_fetches_nothing(page, runs, grid, tmp_path):
    path = tmp_path / "report.html"
    given = [str(runs / name) for name in ("first", "second", "grid")]
    assert main(["report", *given, "-o", str(path)]) == 0
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    assert page.locator("table.heat").count() == 1
    assert page.locator("svg").count() > 5
    page.locator("details summary", has_text="· instance").first.click()
    assert page.locator("details[open] pre").first.is_visible()
    assert asked == [path.as_uri()]


# -- 6. keys, links, screens ------------------------------------------------------------------------------------------


def test_from_the_list_to_one_instance_by_keys_alone(page, address):
    page.goto(f"{address}/runs")
    names = page.locator("tr[data-row] th a").all_inner_texts()
    for _ in range(names.index("first") + 1):
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


def test_j_and_k_go_through_the_instances(page, address):
    open_run(page, address, "first")
    page.get_by_role("link", name="All instances").click()
    page.locator("tr[data-row] a").first.click()
    page.wait_for_url("**/samples/0*")
    page.keyboard.press("j")
    page.wait_for_url("**/samples/1*")
    page.keyboard.press("k")
    page.wait_for_url("**/samples/0*")


def test_answers_are_labelled_by_keys(page, address, runs):
    open_run(page, address, "first")
    page.get_by_role("link", name="Label answers").click()
    page.get_by_label("Who labels").fill("Ann")
    page.keyboard.press("Enter")
    page.wait_for_url("**/label?who=Ann*")
    for key, at in (("1", 1), ("s", 2), ("0", 3), ("b", 2), (".", 3)):
        page.keyboard.press(key)
        page.wait_for_url(f"**at={at}*")
    lines = (runs / "first" / "labels.jsonl").read_text().splitlines()
    assert [json.loads(line)["label"] for line in lines] == [1.0, 0.0, 0.5]


def test_the_list_of_keys_opens_and_closes(page, address):
    page.goto(f"{address}/runs")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").is_hidden()


def test_a_note_is_written_and_stays(page, address, runs):
    open_run(page, address, "first")
    page.get_by_role("link", name="All instances").click()
    page.locator("[data-row] a").nth(7).click()
    page.get_by_label("Note", exact=True).fill("look again")
    page.get_by_label("thumb down").check()
    page.get_by_role("button", name="Keep").click()
    page.locator("p.note", has_text="look again").wait_for()
    assert page.url.endswith("/samples/7")
    assert "look again" in (runs / "first" / "notes.jsonl").read_text()


def test_a_link_to_an_instance_can_be_shared(page, address, browser, served):
    open_run(page, address, "grid")
    page.get_by_role("link", name="topic=rivers").click()
    page.locator("tr[data-row] a").nth(2).click()
    page.wait_for_url("**/samples/2?*")
    other = browser.new_context().new_page()
    other.goto(page.url)
    assert "proctor view printed" in other.content()  # with whoever may look
    let_in(other, served)
    other.goto(page.url)
    assert other.locator("h1").inner_text() == page.locator("h1").inner_text()
    other.keyboard.press("j")
    other.wait_for_url("**/samples/3?*")
    assert "group=" in other.url
    other.context.close()


SCRIPTS = {
    "中文": ("日本的首都是哪座城市?请用一个词回答。", "首都是**东京**。", "东京"),
    "عربي": ("ما هي عاصمة اليابان؟", "العاصمة هي طوكيو (46).", "طوكيو"),
}


def other_scripts_and_a_sweep(runs):
    """Runs whose every name and text is Chinese or Arabic, and a sweep with all that its page can show."""
    for name, (question, answer, right) in SCRIPTS.items():
        said = {"input": {"问题": question}, "prompt": question, "output": answer, "prediction": answer}
        for half in ("a", "b"):
            scores = [float(half == "a" or number > 2) for number in range(9)]
            samples = [sample(number, name, score, references=[right], **said) for number, score in enumerate(scores)]
            write_run(runs / f"{name}-{half}", samples, model=f"{name} {half}")
    levels = [("<b>", "中文"), ("<b>", "عربي"), ("long " * 12, "中文"), ("long " * 12, "عربي")]
    cells = [
        {"name": " · ".join(each), "folder": "x", "levels": dict(zip(("template", "format"), each, strict=True)),
         "metric": "acc", "score": 0.2 * number, "low": 0.1, "high": 0.9, "n": 1234, "failures": 0}
        for number, each in enumerate(levels)
    ]  # fmt: skip
    result = {
        "metric": "acc",
        "unit": "share",
        "higher_is_better": True,
        "questions": 9,
        "cells": cells,
        "notes": ["n"],
    }
    record = {"schema_version": 1, "exam": "عربي", "model": "m", "readings": [], "cells": cells, "result": result}
    (runs / "sweep").mkdir()
    (runs / "sweep" / "sweep.json").write_text(json.dumps(record))


def all_pages(address, page):
    page.goto(f"{address}/runs")
    links = {
        name: page.get_by_role("link", name=name, exact=True).get_attribute("href")
        for name in (
            "first",
            "second",
            "third",
            "grid",
            "judged",
            *(f"{name}-{half}" for name in SCRIPTS for half in "ab"),
        )
    }
    ids = {name: link.rpartition("/")[2] for name, link in links.items()}
    runs = "&".join(f"run={ids[name]}" for name in ("first", "second", "third"))
    first, grid = links["first"], links["grid"]
    return [
        "/runs",
        "/compare",
        f"/compare?{runs}&exam=capitals&with={ids['second']}&way=worse",
        "/explore?q=samples",
        "/explore/exam?exam=samples.science",
        "/explore/exam?exam=samples.arithmetic&other_num_demos=1&answer=12",
        "/explore/exam?exam=samples.sentiment&format=formats.chat_api&system_prompt=Be+brief.",
        "/explore/exam?exam=nothing",
        first,
        f"{first}/samples",
        f"{first}/samples/121",
        f"{first}/samples/120",
        grid,
        f"{grid}/samples?group=topic%3Drivers&subset=atlas",
        f"{links['judged']}/samples/0",
        f"{first}/label",
        f"{first}/label?who=Ann",
        f"/items?{runs}",
        "/sweeps",
        *(
            path
            for name in SCRIPTS
            for way, of, other in [("worse", links[f"{name}-a"], links[f"{name}-b"])]
            for path in (
                of,
                f"{of}/samples",
                f"{of}/samples/0",
                f"{of}/label?who=Ann",
                f"/compare?run={of[6:]}&run={other[6:]}&exam={name}&with={other[6:]}&way={way}",
                f"/items?run={of[6:]}&run={other[6:]}",
            )
        ),
    ]


SCREENS = [(width, scheme) for width in (1400, 400) for scheme in ("light", "dark")]


def test_pages_fit_their_screens_and_are_accessible(browser, served, address, runs, tmp_path):
    names = ("grid", "first", "second", "judged")
    assert main(["report", *(str(runs / name) for name in names), "--output", str(tmp_path / "report.html")]) == 0
    other_scripts_and_a_sweep(runs)
    assert main(["view", *(str(runs / name) for name in ("first", "second")), "--export", str(tmp_path / "site")]) == 0
    files = sorted(
        each.as_uri() for each in (tmp_path / "site").rglob("*.html") if not re.search(r"/samples[-/]", str(each))
    )
    context = browser.new_context()
    page = context.new_page()
    let_in(page, served)
    for path in [*all_pages(address, page), (tmp_path / "report.html").as_uri(), *files]:
        answer = page.goto(path if path.startswith("file:") else address + path)
        assert answer.ok, path
        assert page.locator("h1").count() == 1
        assert page.locator("table:not(:has(caption))").count() == 0
        for width, scheme in SCREENS:  # a page follows its window
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            assert (background == "rgb(16, 19, 26)") == (scheme == "dark"), path
        for width, scheme in SCREENS if AXE.is_file() else []:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.evaluate(AXE.read_text(encoding="utf-8"))
            page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
            found = page.evaluate("axe.run()")
            assert [
                (path, each["id"], [node["html"] for node in each["nodes"][:3]]) for each in found["violations"]
            ] == []
    context.close()


# -- 7. the first page ------------------------------------------------------------------------------------------------


@pytest.fixture
def forty(runs):
    for number in range(35):
        name = f"openai-meta-llama-Llama-3.3-70B-Instruct-samples.science-{number:08x}"
        long = "card=cards.mmlu.abstract_algebra,template=templates.qa.multiple_choice.with_topic.lm_eval_harness"
        folder = write_run(runs / name, [sample(0), sample(0, long)], model=f"meta-llama/Llama-3.3-70B-{number % 4}")
        if number == 3:
            (folder / "results.json").unlink()
    return runs


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forty_runs_fit_two_screens(browser, served, forty, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    let_in(page, served)
    assert page.locator("tr[data-row]").count() >= 40
    assert page.evaluate("document.documentElement.scrollHeight") <= 1800
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    assert max(row.bounding_box()["height"] for row in page.locator("tr[data-row]").all()) <= 40
    for tag in page.locator("td.state .tag").all():
        assert tag.bounding_box()["height"] <= 24  # no word of it is broken in two
    context.close()


def test_a_run_takes_two_lines_on_a_telephone(browser, served, forty):
    context = browser.new_context(viewport={"width": 400, "height": 900})
    page = context.new_page()
    let_in(page, served)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert max(row.bounding_box()["height"] for row in page.locator("tr[data-row]").all()) <= 60
    assert page.locator("table.matrix td:visible").count() >= 4
    context.close()


def test_arrows_go_through_lists_and_instances_within_the_filter(page, address):
    open_run(page, address, "first")
    page.get_by_role("link", name="capitals").first.click()
    page.get_by_role("link", name=re.compile("^Right [0-9]+$")).click()
    page.wait_for_url("**lowest=1*")
    for _ in range(7):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/samples/6?*")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/samples/8?*")  # 7 is wrong
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/samples/10?*")  # 9 failed
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/samples/8?*")


def test_runs_are_chosen_by_filter_and_sorted_without_a_script(browser, served):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    let_in(page, served)
    page.get_by_label("Search").fill("best")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**q=best*")
    assert page.locator("tr[data-row]").count() == 1
    page.locator("table.matrix thead a").first.click()
    page.wait_for_url("**by=0*")
    assert "q=best" in page.url
    context.close()
