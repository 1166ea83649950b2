"""Requests of strangers, and addresses that a stranger made for the user: none shows or does anything.

The app has a hostile folder of exams, hostile catalogs and hostile run folders, and every permission that there is: in
the environment, in the process, and ``PROCTOR_TRUST_CODE``. A marked secret lies outside its folders, beside a server that
counts who connects. An audit hook sees what is written and started.
"""

from __future__ import annotations

import json
import os
import socketserver
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tests_grants import granting
from tests_pace import in_time
from tests_web_support import client_of, sample, write_run

from proctor.cli.__main__ import main
from proctor.errors import UsageError
from proctor.web.access import WITHOUT_TOKEN, Access
from proctor.web.app import create_app
from proctor.web.security import HEADERS
from proctor.web.site import export_site

SECRET = "the-secret-of-the-user"
HOST = "127.0.0.1:7700"
NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


class _Seen:
    """What the hook has seen; ``None`` while nobody looks."""

    events: list[str] | None = None


def _hook(event, arguments):
    if _Seen.events is None:
        return
    if event in {"subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"}:
        _Seen.events.append(f"{event} {arguments[0]}")
    elif event == "socket.connect" and arguments[1] not in ("", None):
        _Seen.events.append(f"{event} {arguments[1]}")
    elif (event == "open" and isinstance(arguments[0], str) and "/outside/" in arguments[0]) or (
        event in {"os.rename", "os.remove", "os.mkdir"} and "/outside/" in str(arguments[0])
    ):
        _Seen.events.append(f"{event} {arguments[0]}")


@pytest.fixture(scope="module", autouse=True)
def _hooked():
    sys.addaudithook(_hook)


@pytest.fixture(scope="module")
def server():
    """The address of a server, and who came."""
    came = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            came.append(self.request.recv(1000))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}", came
        listening.shutdown()


def _write(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def _card(loader, *steps):
    task = {
        "__type__": "task",
        "input_fields": {"a": "str"},
        "reference_fields": {"a": "str"},
        "prediction_type": "str",
    }
    task["metrics"] = ["metrics.accuracy"]
    template = {"__type__": "input_output_template", "input_format": "{a}", "output_format": "{a}"}
    card = {"__type__": "task_card", "loader": loader, "preprocess_steps": list(steps), "task": task}
    return {"__type__": "dataset_recipe", "card": card, "template": template, "demos_pool_size": 0}


def _task(name, files, **more):
    return {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(files)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{a}}",
        "doc_to_target": "{{a}}",
        **more,
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory, server):
    """Folders: ``runs``, ``exams`` and ``catalog`` belong to the viewer, ``outside`` does not."""
    base = tmp_path_factory.mktemp("attack")
    rows = [{"a": SECRET, "question": SECRET}]
    outside = base / "outside"
    _write(outside / "rows.jsonl", json.dumps(rows[0]) + "\n")
    _write(outside / "rows.json", rows)
    _write(outside / "rows.csv", f"question,answer\n{SECRET},1\n")
    _write(outside / "plain", SECRET)
    _write(outside / "task.yaml", {**_task("outsider", outside / "rows.jsonl"), "description": SECRET})
    _write(outside / "prompts.yaml", {"prompts": {"p": {"doc_to_text": SECRET}}})
    _write(outside / "config_gen.py", f"datasets = [dict(abbr={SECRET!r}, type='JsonlDataset', reader_cfg=dict())]\n")
    _write(outside / "recipe.json", _card({"__type__": "load_from_dictionary", "data": {"test": rows}}))
    _write(outside / "model" / "config.json", {"max_position_embeddings": 3})
    _write(outside / "model" / "tokenizer.json", SECRET)
    write_run(outside / "run", [sample(0, output=SECRET)])
    _exams(base, outside)
    _catalog(base, outside, server[0])
    _runs(base, outside, server[0])
    (base / "work").mkdir()
    _write(base / "work" / "rows.csv", f"question,answer\n{SECRET},1\n")
    (base / "work" / "folder").mkdir()
    _write(base / "work" / "folder" / "task.yaml", _task("worker", base / "work" / "folder" / "rows.jsonl"))
    _write(base / "work" / "folder" / "rows.jsonl", json.dumps(rows[0]) + "\n")
    return base


def _exams(base, outside):
    exams = base / "exams"
    inside = _write(exams / "rows.jsonl", json.dumps({"a": "harmless"}) + "\n")
    _write(exams / "good.yaml", _task("good", inside))
    (exams / "link.jsonl").symlink_to(outside / "rows.jsonl")
    (exams / "linked.yaml").symlink_to(outside / "task.yaml")
    (exams / "folder").symlink_to(outside)
    tasks = {
        "far": _task("far", outside / "rows.jsonl"),
        "up": _task("up", "../outside/rows.jsonl"),
        "through": _task("through", exams / "link.jsonl"),
        "below": _task("below", exams / "folder" / "rows.jsonl"),
        "file": _task("file", f"file://{outside}/rows.jsonl"),
        "etc": _task("etc", "/etc/passwd"),
        "environ": _task("environ", "/proc/self/environ"),
        "includes": {"task": "includes", "include": str(outside / "task.yaml")},
        "climbs": {"task": "climbs", "include": "../outside/task.yaml"},
        "prompts": {**_task("prompts", inside), "use_prompt": f"{outside}/prompts.yaml:p"},
        "inlined": {"task": "inlined", "recipe": str(outside / "recipe.json")},
        "fetching": {
            **_task("fetching", inside),
            "recipe": json.dumps(_card({"__type__": "load_csv", "files": {"test": f"{outside}/rows.csv"}})),
        },
    }
    for name, task in tasks.items():
        _write(exams / f"{name}.yaml", task)
    _write(
        exams / "evil_gen.py",
        f"datasets = [dict(abbr='evil', type='opencompass.datasets.JsonlDataset', path={str(outside / 'rows.jsonl')!r}, "
        "reader_cfg=dict(input_columns=['a'], output_column='a'), infer_cfg=dict(prompt_template=dict("
        "type='PromptTemplate', template='{a}'), retriever=dict(type='ZeroRetriever'), "
        "inferencer=dict(type='GenInferencer')), eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n",
    )
    _write(exams / "runs_gen.py", f"import os\nos.system('touch {outside}/started')\ndatasets = []\n")
    _write(exams / "code.py", f"open({str(outside / 'ran')!r}, 'w').close()\ndef change(docs): return docs\n")
    _write(
        exams / "code.yaml",
        "process_docs: !function code.change\n"
        + json.dumps(_task("code", inside))[1:-1].replace(', "', '\n"').replace('{"test"', '{ "test"'),
    )


def _catalog(base, outside, address):
    rows = {"__type__": "load_from_dictionary", "data": {"test": [{"a": "harmless"}]}}
    api = {"__type__": "load_from_api", "urls": {"test": f"{address}/rows"}, "api_key_env_var": "PROCTOR_TEST_SECRET"}
    recipes = {
        "fine": _card(rows),
        "csv": _card({"__type__": "load_csv", "files": {"test": f"{outside}/rows.csv"}}),
        "json": _card({"__type__": "load_json_file", "files": {"test": f"{outside}/rows.json"}}),
        "web": _card({"__type__": "load_csv", "files": {"test": f"{address}/rows.csv"}}),
        "api": _card(api),
        "download": _card(
            rows, {"__type__": "download_operator", "source": f"{address}/x", "target": f"{outside}/new"}
        ),
        "unzip": _card(
            rows, {"__type__": "extract_zip_file", "zip_file": f"{outside}/x.zip", "target_dir": f"{outside}/new"}
        ),
        "hf": _card({"__type__": "load_hf", "path": "json", "data_files": {"test": f"{outside}/rows.jsonl"}}),
        "picture": _card({"__type__": "load_from_dictionary", "data": {"test": [{"a": f"{outside}/plain"}]}}),
    }
    for name, recipe in recipes.items():
        _write(base / "catalog" / "hostile" / f"{name}.json", recipe)


def _runs(base, outside, address):
    runs = base / "runs"
    write_run(runs / "honest", [sample(0)])
    (runs / "away").symlink_to(outside / "run")
    for name in ("samples.jsonl", "results.json", "run.yaml"):
        folder = write_run(runs / f"links-{name.partition('.')[0]}", [sample(0)])
        (folder / name).unlink()
        (folder / name).symlink_to(outside / "run" / name)
    folder = write_run(runs / "pipe", [sample(0)])
    (folder / "results.json").unlink()
    os.mkfifo(folder / "results.json")
    recipe = _card({"__type__": "load_csv", "files": {"test": f"{outside}/rows.csv"}})
    api = {"__type__": "load_from_api", "urls": {"test": f"{address}/rows"}, "api_key_env_var": "PROCTOR_TEST_SECRET"}
    specifications = {
        "tasks-json": {"tasks": [json.dumps(recipe)]},
        "tasks-api": {"tasks": [json.dumps(_card(api))]},
        "tasks-file": {"tasks": [f"{outside}/task.yaml"]},
        "tasks-up": {"tasks": ["../outside/task.yaml"]},
        "tasks-folder": {"tasks": [str(outside)]},
        "tasks-config": {"tasks": [f"{outside}/config_gen.py"]},
        "tasks-rows": {"tasks": [f"{outside}/rows.csv"]},
        "includes": {"tasks": ["outsider"], "overrides": {"include_paths": [str(outside)]}},
    }
    for name, spec in specifications.items():
        exam = spec["tasks"][0] if name in ("tasks-json", "tasks-api") else "outsider"
        folder = write_run(runs / f"spec-{name}", [sample(0, exam=exam)])
        (folder / "run.yaml").write_text(json.dumps({"model": "x", "exams": {exam: {}}, **spec}))
    folder = write_run(runs / "deep", [sample(0)])
    (folder / "samples.jsonl").write_text('{"output": ' + "[" * 100_000 + "]" * 100_000 + "}\n")


@pytest.fixture
def app(place, monkeypatch, tmp_path, server):
    for name in ("CATALOGS", "ALLOW", "TRUST_CODE", "CACHE_DIR"):
        monkeypatch.delenv(f"PROCTOR_{name}", raising=False)
    monkeypatch.setenv("PROCTOR_CATALOGS", str(place / "catalog"))
    monkeypatch.setenv("PROCTOR_TRUST_CODE", "1")
    monkeypatch.setenv("PROCTOR_ALLOW", "net:* read:/ write:/ env:* run:*")
    monkeypatch.setenv("PROCTOR_TEST_SECRET", SECRET)
    monkeypatch.setenv("PROCTOR_OFFLINE", "1")
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(place / "work")
    with granting("net:*", "read:/", "write:/", "env:*", "run:*"):
        yield create_app([place / "runs"], include_paths=[str(place / "exams")])


@pytest.fixture
def quiet(server, place):
    """Fails where something was written, started, or asked over the network."""
    before = sorted(str(path) for path in (place / "outside").rglob("*"))
    came = len(server[1])
    _Seen.events = []
    try:
        yield
        events = [each for each in _Seen.events or () if "open" not in each]
    finally:
        _Seen.events = None
    assert events == []
    assert len(server[1]) == came
    assert sorted(str(path) for path in (place / "outside").rglob("*")) == before


# -- who may not look ------------------------------------------------------------------------------------------

PATHS = ("/", "/runs", "/runs/0123456789", "/compare", "/explore", "/explore/exam?exam=hostile.fine", "/static/app.js")
STRANGERS = [
    *((method, path, {}) for path in PATHS for method in ("GET", "HEAD")),
    *((method, "/runs", {}) for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT")),
    *(("GET", f"{path}?token={token}", {}) for path in ("/", "/runs") for token in ("", "x", "None", "%00", "a" * 43)),
    ("GET", "/?token=x&token=y", {}),
    ("GET", "/?TOKEN={token}", {}),
    ("GET", "/?token={token}x", {}),
    ("GET", "/?token={session}", {}),
    ("GET", "/runs", {"authorization": "Bearer"}),
    ("GET", "/runs", {"authorization": "Bearer "}),
    ("GET", "/runs", {"authorization": "Bearer x"}),
    ("GET", "/runs", {"authorization": "Bearer {session}"}),
    ("GET", "/runs", {"authorization": "Basic {token}"}),
    ("GET", "/runs", {"authorization": "{token}"}),
    ("GET", "/runs", {"cookie": "proctor_view_7700={token}"}),
    ("GET", "/runs", {"cookie": "proctor_view_7700="}),
    ("GET", "/runs", {"cookie": "proctor_view_7700"}),
    ("GET", "/runs", {"cookie": "proctor_view_7701={session}"}),
    ("GET", "/runs", {"cookie": "proctor_view={session}; token={token}"}),
    ("GET", "/runs", {"x-token": "{token}"}),
]


def _filled(text, access):
    return text.replace("{token}", access.token).replace("{session}", access.session)


@pytest.mark.parametrize("method, path, headers", STRANGERS)
def test_a_stranger_is_told_how_to_get_in_and_nothing_else(app, quiet, method, path, headers):
    access = app.state.access
    given = {name: _filled(value, access) for name, value in headers.items()}
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as client:
        answer = client.request(method, _filled(path, access), headers=given)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    _check(answer, access)
    if method == "GET":
        assert "proctor view printed" in answer.text


def _check(answer, access):
    """Every answer has the headers, no foreign site may read it, and it does not give a key away."""
    for name, value in HEADERS:
        assert answer.headers[name.decode()] == value.decode()
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert SECRET not in answer.text
    assert access.token not in answer.text + answer.headers.get("location", "")
    assert access.session not in answer.text


FOREIGN = [
    *({"sec-fetch-site": site} for site in ("cross-site", "same-site", "", "anything", "none, cross-site")),
    *({"sec-fetch-site": site, **NAVIGATION} for site in ("cross-site", "same-site")),
    *({"sec-fetch-site": "same-origin", "sec-fetch-dest": dest} for dest in ("iframe", "frame", "embed", "object")),
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "websocket", "sec-fetch-dest": "websocket"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:7701"},
    {"origin": "http://127.0.0.1"},
    {"origin": "http://localhost:7700"},
    {"origin": f"http://{HOST}.evil.example"},
    {"origin": f"http://user@{HOST}"},
    {"origin": "http://[::1"},
    {"referer": "http://evil.example/"},
    {"referer": f"http://evil.example/{HOST}"},
    {"referer": "http://127.0.0.1:8888/lab"},
    {"host": "evil.example"},
    {"host": "evil.example:7700"},
    {"host": "127.0.0.1.evil.example:7700"},
    {"host": "127.0.0.1:7700.evil.example"},
    {"host": "127.0.0.1:7700@evil.example"},
    {"host": "*"},
    {"host": ""},
]


@pytest.mark.parametrize("path", ["/runs", "/explore/exam?exam=hostile.fine"])
@pytest.mark.parametrize("headers", FOREIGN)
def test_what_a_foreign_page_asks_for_with_the_users_own_cookie_is_refused(app, quiet, path, headers):
    access = app.state.access
    cookie = {"cookie": f"proctor_view_7700={access.session}"}
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as client:
        for method in ("GET", "HEAD"):
            answer = client.request(method, path, headers={**cookie, **headers})
            assert answer.status_code == 403
            _check(answer, access)
        assert client.get(path, headers=cookie).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
@pytest.mark.parametrize("path", ["/", "/runs", "/static/app.css"])
def test_whoever_has_the_key_can_only_read(app, quiet, method, path):
    answer = client_of(app).request(method, path, content=b"exam=hostile.api")
    assert answer.status_code == 403
    _check(answer, app.state.access)


@pytest.mark.parametrize("path", ["/", "/runs", "/explore/exam"])
def test_there_is_no_websocket(app, path):
    with client_of(app) as client, pytest.raises(WebSocketDisconnect), client.websocket_connect(path):
        raise AssertionError("it was accepted")


def test_two_hosts_or_a_long_address_are_refused(app):
    client = client_of(app)
    hosts = [("host", HOST), ("host", "evil.example"), ("authorization", client.headers["authorization"])]
    assert client.get("/runs", headers=hosts).status_code == 403
    assert client.get(f"/runs?x={'a' * 20_000}").status_code == 403


# -- how the user gets in --------------------------------------------------------------------------------------


def test_the_token_becomes_a_cookie_and_leaves_the_address(app):
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as client:
        answer = client.get(f"/?token={app.state.access.token}", headers={"sec-fetch-site": "none", **NAVIGATION})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("proctor_view_7700=")
        assert {each.strip() for each in cookie.split(";")[1:]} == {"Path=/", "HttpOnly", "SameSite=Strict"}
        _check(answer, app.state.access)
        assert client.get("/").headers["location"] == "/runs"
        assert client.get("/runs").status_code == 200
        again = client.get(f"/explore?q=a%20b&token={app.state.access.token}&kind=card")
        assert again.headers["location"] == "/explore?q=a+b&kind=card"


def test_a_link_from_elsewhere_opens_the_start_page_only_and_only_with_the_token(app):
    link = {"sec-fetch-site": "cross-site", "accept": "text/html", **NAVIGATION}
    token = app.state.access.token
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as client:
        answer = client.get(f"/?token={token}", headers={**link, "referer": "https://mail.example/"})
        assert answer.status_code == 200
        assert 'http-equiv="refresh" content="0;url=/"' in answer.text  # our own page leads on: then the cookie comes
        _check(answer, app.state.access)
        client.cookies.clear()
        framed = {**link, "sec-fetch-dest": "iframe"}
        script = {**link, "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
        for path, headers in (
            (f"/runs?token={token}", link),
            (f"/?token={token}", framed),
            (f"/?token={token}", script),
        ):
            answer = client.get(path, headers=headers)
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\evil.example", "///evil.example/x", "/%2F%2Fevil.example", "/a%0d%0aX: y"]
)
def test_the_way_on_never_leads_to_another_site(app, path):
    with TestClient(app, base_url=f"http://{HOST}", follow_redirects=False) as client:
        answer = client.send(client.build_request("GET", f"http://{HOST}{path}?token={app.state.access.token}"))
    place = answer.headers["location"]
    assert place.startswith("/")
    assert not place.startswith(("//", "/\\"))
    assert "\n" not in place


def test_two_viewers_do_not_share_a_cookie(app):
    other = create_app([])
    with TestClient(app, base_url=f"http://{HOST}") as client:
        client.get(f"/?token={app.state.access.token}")
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    with TestClient(other, base_url="http://127.0.0.1:7701") as client:
        assert client.get("/runs", headers={"cookie": cookies}).status_code == 403


def test_no_app_is_open_by_accident():
    for hosts in (["*"], ["box.lan"], ["127.0.0.1", "0.0.0.0"]):
        with pytest.raises(UsageError, match="loopback only"):
            create_app([], hosts, access=WITHOUT_TOKEN)
    assert create_app([]).state.access.token
    assert len({Access().token for _ in range(100)} | {Access().session for _ in range(100)}) == 200
    assert "token" not in repr(Access())
    with TestClient(create_app([], access=WITHOUT_TOKEN), base_url=f"http://{HOST}") as client:
        assert client.get("/runs").status_code == 200
        assert client.get("/runs", headers={"sec-fetch-site": "cross-site", **NAVIGATION}).status_code == 403


# -- what an address can make the viewer do ---------------------------------------------------------------------


def _inline(kind):
    loaders = {
        "csv": {"__type__": "load_csv", "files": {"test": "{outside}/rows.csv"}},
        "api": {
            "__type__": "load_from_api",
            "urls": {"test": "{server}/rows"},
            "api_key_env_var": "PROCTOR_TEST_SECRET",
        },
    }
    return json.dumps(_card(loaders[kind]))


EXAMS = [
    *(_inline(kind) for kind in ("csv", "api")),
    *(f"  {_inline('csv')}", f"x::{_inline('csv')}"),
    *(
        "{outside}/task.yaml",
        "{outside}/task.yaml::outsider",
        "{outside}/recipe.json",
        "{outside}/rows.csv",
        "{outside}",
    ),
    *(
        "{outside}/rows.jsonl",
        "{outside}/config_gen.py",
        "../outside/task.yaml",
        "../outside",
        "~/x.yaml",
        ".",
        "..",
        "/",
    ),
    *(
        "rows.csv",
        "folder",
        "folder/",
        "folder/task.yaml",
        "./folder",
        "folder/../folder",
        "/etc/passwd",
        "file:///etc/passwd",
    ),
    *("far", "up", "through", "below", "file", "etc", "environ", "includes", "climbs", "prompts", "inlined"),
    *(
        "fetching",
        "outsider",
        "linked",
        "evil_gen",
        "evil_gen::evil",
        "runs_gen",
        "code",
        "good::../../outside/task.yaml",
    ),
    *("hostile.csv", "hostile.json", "hostile.web", "hostile.api", "hostile.download", "hostile.unzip", "hostile.hf"),
    "hostile.fine[card={__type__=load_csv}]",
    "hostile.fine[card={loader={__type__=load_csv,files={test={outside}/rows.csv}}}]",
    "hostile.fine[template={outside}/recipe.json]",
    "hostile.fine[__type__=load_csv]",
    "hostile.fine[card=card=hostile.api]",
    "card={outside}/recipe.json,template=templates.empty",
    "card={__type__=task_card},template=x",
    "card=[{outside}/recipe.json]",
    "__type__=load_csv,files={test={outside}/rows.csv}",
    "__type__=load_from_api,urls={test={server}/rows},api_key_env_var=PROCTOR_TEST_SECRET",
    "card=cards.wnli[loader=load_csv[files={test={outside}/rows.csv}]],template=templates.empty",
    "card=cards.wnli[loader={server}/x],template=templates.empty",
    "hostile.*",
    "*",
    "a" * 5000,
    "[" * 900,
    "x[" * 300,
    "\x00",
    "good@{outside}/prompts.yaml:p",
    "good@mcq[{outside}]",
]
FIELDS = [
    *(
        ("template", value)
        for value in ("{outside}/recipe.json", "x,card={outside}/recipe.json", '{"__type__":"load_csv"}')
    ),
    *(("format", value) for value in ("{outside}/recipe.json", "x],card=hostile.api", "{server}/x")),
    *(("sampler", value) for value in ("{outside}/code.py", "{__type__=load_csv}", "../x", "x[y={z=1}]")),
    *(("split", value) for value in ("{outside}/rows.csv", "test,card=hostile.api", "../x", "{a=1}")),
    *(
        ("system_prompt", value)
        for value in ("system_prompts.empty[x={a=1}]", "system_prompts.empty,card=hostile.api", "x" * 9000)
    ),
    *(("num_demos", value) for value in ("9" * 5000, "-1", "1e9", "999999", "٣", "1,card=hostile.api")),
    *(("model", value) for value in ("{outside}/model", "../outside/model", "~/x", "{server}/x", "x" * 300)),
    *(("doc", value) for value in ("9" * 5000, "-1", "1e9")),
    *(("answer", value) for value in ("x" * 9000, "<script>alert(1)</script>")),
    ("member", "x" * 400),
    ("other_template", "{outside}/recipe.json"),
    ("other_split", "a,card=hostile.api"),
]


@pytest.mark.parametrize("exam", EXAMS)
def test_an_exam_of_an_address_does_nothing(app, place, server, quiet, exam):
    exam = exam.replace("{outside}", str(place / "outside")).replace("{server}", server[0])
    _harmless(app, f"/explore/exam?exam={quote(exam, safe='')}")


@pytest.mark.parametrize("exam", ["hostile.fine", "good"])
@pytest.mark.parametrize("field, value", FIELDS)
def test_a_field_of_an_address_does_nothing(app, place, server, quiet, exam, field, value):
    value = value.replace("{outside}", str(place / "outside")).replace("{server}", server[0])
    _harmless(
        app, f"/explore/exam?exam={exam}&{field}={quote(value, safe='')}", is_refused=field in ("template", "format")
    )


def _harmless(app, address, *, is_refused=True):
    started = time.process_time()
    answer = client_of(app).get(address)
    assert in_time(time.process_time() - started, 5)
    assert answer.status_code in (200, 400)
    _check(answer, app.state.access)
    assert "<script>alert" not in answer.text
    if is_refused:
        assert 'role="alert"' in answer.text


JUDGE = {
    "__type__": "llm_judge_direct",
    "inference_engine": {"__type__": "scripted_engine", "answer": "Yes"},
    "criteria": "metrics.llm_as_judge.direct.criteria.answer_relevance",
    "context_fields": ["a"],
}
RUN_PATHS = [
    *("/runs/..%2f..%2foutside%2frun", "/runs/%2fetc", "/runs/%00", "/runs/" + "a" * 5000, "/runs/../outside"),
    *("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"),
    *(
        "/runs/{run}/samples/" + "9" * 5000,
        "/runs/{run}/samples/-1",
        "/runs/{run}/samples/1.5",
        "/runs/{run}/samples/x",
    ),
    *(
        "/runs/{run}/samples?page=" + "9" * 50,
        "/runs/{run}/samples?lowest=" + "9" * 5000,
        "/runs/{run}/samples?order=x",
    ),
    *("/runs/{run}/samples?q=" + "a*" * 2000, "/runs/{run}/samples?subset=x", "/runs/{run}/run.yaml"),
    *(
        "/compare?run=..&run=/etc",
        "/compare?" + "&".join(f"run=a{each}" for each in range(99)),
        "/explore?q=" + "*a" * 900,
        "/robots.txt",
        "/.git/config",
    ),
]


@pytest.mark.parametrize("path", RUN_PATHS)
def test_paths_and_numbers_of_an_address_lead_nowhere(app, quiet, path):
    run_id = app.state.library.id_of(app.state.library.roots[0] / "honest")
    answer = client_of(app).get(path.replace("{run}", run_id))
    assert answer.status_code in (400, 404)
    _check(answer, app.state.access)
    assert "Traceback" not in answer.text


def test_run_folders_of_strangers_show_nothing_of_the_disk(app, quiet):
    client = client_of(app)
    assert SECRET not in client.get("/runs").text
    names = {path.name: app.state.library.id_of(path) for path in (app.state.library.roots[0]).iterdir()}
    assert len(names) == 15
    for name, run_id in names.items():
        for page in ("", "/samples", "/samples/0", "/samples/0?parts=1"):
            answer = client.get(f"/runs/{run_id}{page}")
            assert answer.status_code in (200, 400, 404), name
            _check(answer, app.state.access)
        if name.startswith("spec-"):
            assert "cannot be made again" in answer.text, name


@pytest.mark.usefixtures("app", "quiet")
def test_exported_pages_of_run_folders_of_strangers_show_nothing_of_the_disk(place, tmp_path):
    assert export_site([place / "runs"], tmp_path / "site", print) > 10
    for path in (tmp_path / "site").rglob("*"):
        assert not path.is_file() or SECRET not in path.read_text(encoding="utf-8"), path


def test_honest_exams_of_the_folders_are_shown(app, quiet):
    client = client_of(app)
    for exam in ("hostile.fine", "good", "samples.science", "samples.sentiment&num_demos=1&sampler=samplers.random"):
        page = client.get(f"/explore/exam?exam={exam}").text
        assert 'role="alert"' not in page, exam
        assert "characters" in page


def test_what_is_refused_says_what_to_do(app):
    page = client_of(app).get("/explore/exam?exam=hostile.api").text
    assert "sends the environment variable PROCTOR_TEST_SECRET" in page
    assert "look at it with proctor show, and --allow" in page
    page = client_of(app).get("/explore/exam?exam=includes").text
    assert "include reads " in page
    assert "--include-path names a tree of tasks; or look at it with proctor show, and --allow read:" in page


def test_a_page_reads_no_more_data_than_it_may(app, monkeypatch):
    monkeypatch.setattr("proctor.web.confinement.MOST_BYTES", 10)
    assert "too much: use proctor show" in client_of(app).get("/explore/exam?exam=good").text
    monkeypatch.setattr("proctor.web.confinement.MOST_BYTES", 1_000_000)
    assert "too much" not in client_of(app).get("/explore/exam?exam=good").text


def test_what_a_page_must_not_read_is_not_held_against_a_command(app, place, capsys, monkeypatch):
    assert "cannot be read" in client_of(app).get("/explore/exam?exam=climbs").text
    monkeypatch.delenv("PROCTOR_ALLOW")
    assert main(["show", "climbs", "--include-path", str(place / "exams")]) in (0, 2)
    assert "--include-path FOLDER adds one" not in capsys.readouterr().err


def test_a_page_looks_for_an_instance_only_so_long(app, monkeypatch):
    monkeypatch.setattr("proctor.web.instances.MOST_SECONDS", -1.0)
    assert "have been looked at" in client_of(app).get("/explore/exam?exam=samples.science&doc=9").text


def test_no_page_asks_a_judge(app, place, quiet):
    recipe = json.loads((place / "catalog" / "hostile" / "fine.json").read_text())
    recipe["card"]["task"]["metrics"] = [JUDGE]
    _write(place / "catalog" / "judged.json", recipe)
    client = client_of(app)
    assert 'role="alert"' not in client.get("/explore/exam?exam=judged").text
    page = client.get("/explore/exam?exam=judged&answer=positive").text
    assert "no page asks models" in page
