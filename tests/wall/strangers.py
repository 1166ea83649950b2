"""Folders of strangers that lead elsewhere in every way that is known, and what comes of using them.

``python tests/wall/strangers.py COUNT`` makes so many, gives each to a command behind the wall, with the gate and
without, and without the kernel's part of the wall, and says what was read, asked, written or started.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import io
import json
import os
import pkgutil
import random
import shutil
import sqlite3
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import proctor

SECRET = "SECRET77"


@dataclass(frozen=True)
class Canaries:
    """What nobody may touch: a folder, an address, a folder of programs that leave a mark."""

    folder: Path
    address: str
    marks: Path

    def state(self) -> tuple[object, ...]:
        """Return what is there now."""
        files = sorted((str(each), each.read_bytes()) for each in self.folder.rglob("*") if each.is_file())
        return tuple(files), tuple(sorted(each.name for each in self.marks.iterdir()))


@contextlib.contextmanager
def canaries() -> Iterator[Canaries]:
    """Make them; the server writes a mark for each request."""
    root = Path(tempfile.mkdtemp(prefix="canaries-"))
    folder, marks, programs = root / "away", root / "marks", root / "bin"
    for each in (folder / "inner", marks, programs):
        each.mkdir(parents=True)
    rows = {"q": SECRET, "a": "b", "text": SECRET, "label": "x"}
    for place in (folder, folder / "inner"):
        (place / "s.jsonl").write_text(json.dumps(rows) + "\n")
        (place / "s.json").write_text(json.dumps([rows]))
        (place / "s.csv").write_text(f"q,a,text,label\n{SECRET},b,{SECRET},x\n")
        (place / "s.txt").write_text(SECRET)
        with zipfile.ZipFile(place / "s.zip", "w") as archive:
            archive.writestr("s.jsonl", json.dumps(rows))
    for name in ("gs", "git", "ffmpeg", "sh"):
        (programs / name).write_text(f"#!/bin/sh\n: > {marks}/{name}\n")
        (programs / name).chmod(0o755)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            (marks / f"asked{len(list(marks.iterdir()))}").write_text(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps([rows]).encode())

        do_HEAD = do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{programs}{os.pathsep}{path}"
    try:
        yield Canaries(folder, f"http://127.0.0.1:{server.server_port}", marks)
    finally:
        os.environ["PATH"] = path
        server.shutdown()
        server.server_close()
        shutil.rmtree(root)


def _names(where: Canaries, kind: str) -> list[str]:
    """Return names that lead elsewhere, for a kind of file."""
    away, url = where.folder, where.address
    found = [f"{away}/s.{kind}", f"file://{away}/s.{kind}", f"local://{away}/s.{kind}", f"FILE:{away}/s.{kind}"]
    found += [
        f"{away}/*.{kind}",
        f"{away}/**",
        f"../{away.parent.name}/away/s.{kind}",
        f"{away}/in*/s.{kind}",
        str(away),
    ]
    found += [f"{url}/s.{kind}", f"zip://s.jsonl::{away}/s.zip", f"zip://s.{kind}::{url}/x.zip?]", "link", "links/s"]
    return [*found, f"simplecache::{url}/s.{kind}", f"simplecache::file://{away}/s.{kind}", f"{away}/s.zip", "link/*"]


def _write_links(folder: Path, where: Canaries, kind: str) -> None:
    for name, target in (("link", where.folder), ("links", where.folder / "inner")):
        (folder / name).symlink_to(target)
    (folder / f"linked.{kind}").symlink_to(where.folder / f"s.{kind}")


def _task(source: str) -> str:
    shape = "test_split: test\noutput_type: generate_until\ndoc_to_text: '{{%s}}'\ndoc_to_target: b\n"
    column = "text" if '"text"' in source else "q"
    return f"task: t\n{source}\n{shape % column}metric_list: [{{metric: exact_match}}]\n"


def _lm_eval(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    reader = {"jsonl": "json", "json": "json", "csv": "csv", "txt": "text"}[kind]
    files = json.dumps({"test": draw.choice([name, [name]])})
    (folder / "t.yaml").write_text(_task(f'dataset_path: "{reader}"\ndataset_kwargs: {{data_files: {files}}}'))
    return folder / "t.yaml"


def _card(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    (folder / "ds").mkdir()
    entry: dict[str, object] = {"config_name": "default", "data_files": [{"split": "test", "path": name}]}
    if draw.random() < 0.3:
        entry = {"config_name": "default", "data_dir": name}
    (folder / "ds" / "README.md").write_text("---\n" + json.dumps({"configs": [entry]}) + "\n---\n")
    (folder / "ds" / f"x.{kind}").touch()
    (folder / "t.yaml").write_text(_task("dataset_path: ./ds"))
    return folder / "t.yaml"


def _linked_folder(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    del name
    (folder / "ds").mkdir()
    (folder / "ds" / f"test.{kind}").symlink_to(os.path.realpath(folder / f"linked.{kind}"))
    if draw.random() < 0.5:
        (folder / "ds" / "README.md").symlink_to(os.path.realpath(folder / "link") + "/s.txt")
    (folder / "t.yaml").write_text(_task("dataset_path: ./ds"))
    return folder / "t.yaml"


def _recipe(folder: Path, loader: dict[str, object], steps: list[dict[str, object]] | None = None) -> Path:
    task = {"__type__": "task", "input_fields": {"text": "str"}, "reference_fields": {"label": "str"}}
    task |= {"prediction_type": "str", "metrics": ["metrics.accuracy"]}
    template = {"__type__": "input_output_template", "input_format": "{text}", "output_format": "{label}"}
    card = {"__type__": "task_card", "loader": loader, "preprocess_steps": steps or [], "task": task}
    card["templates"] = [template]
    recipe = {"__type__": "dataset_recipe", "template_card_index": 0, "card": card}
    (folder / "e.json").write_text(json.dumps(recipe))
    return folder / "e.json"


def _loader(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    types = {"csv": ["load_csv"], "txt": ["load_iob"]}.get(kind, ["load_json_file"])
    loader = {"__type__": draw.choice([*types, "load_hf"]), "files": {"test": name}}
    if loader["__type__"] == "load_hf":
        loader = {"__type__": "load_hf", "path": draw.choice(["json", "csv", "text"]), "data_files": {"test": name}}
    return _recipe(folder, loader)


def _step(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    del kind
    row = {"text": name, "label": "x"}
    away = os.path.realpath(folder / "link")
    archive = folder / "r.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("s.jsonl", "EVIL")
        made.writestr("../s.csv", "EVIL")
    steps: list[dict[str, object]] = [
        {"__type__": "read_file", "field": "text"},
        {"__type__": "extract_zip_file", "zip_file": str(archive), "target_dir": draw.choice([away, "link", "~"])},
        {"__type__": "extract_zip_file", "zip_file": f"{away}/s.zip", "target_dir": "out"},
        {"__type__": "download_operator", "source": name, "target": f"{away}/s.jsonl"},
    ]
    return _recipe(folder, {"__type__": "load_from_dictionary", "data": {"test": [row]}}, [draw.choice(steps)])


def _table(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    del draw
    place = folder / f"rows.{'csv' if kind == 'txt' else kind}"
    place.write_text(json.dumps({"question": name, "answer": "b", "image": name}) + "\n")
    if place.suffix == ".csv":
        place.write_text(f"question,answer,image\n{name},b,{name}\n")
    return place


def _config(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    del kind
    path = draw.choice([f"path={name!r}", f"path='json', data_files={name!r}", f"path={name!r}, name='x'"])
    (folder / "c.py").write_text(
        "from opencompass.datasets import HFDataset, JsonlDataset\n"
        f"datasets = [dict(abbr='t', type={draw.choice(['HFDataset', 'JsonlDataset'])}, {path},\n"
        "  reader_cfg=dict(input_columns=['q'], output_column='a', test_split='train', train_split='train'),\n"
        "  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),\n"
        "    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),\n"
        "  eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n"
    )
    return folder / "c.py"


def _hub_yaml(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    _card(folder, name, kind, draw)
    (folder / "ds" / "eval.yaml").write_text(
        "name: t\nevaluation_framework: inspect-ai\ntasks:\n- id: t\n  split: test\n"
        "  field_spec: {input: q, target: a}\n  solvers: [{name: generate}]\n  scorers: [{name: match}]\n"
    )
    return folder / "ds" / "eval.yaml"


def _pictures(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    del kind
    from datasets import Features, Image, Value
    from pyarrow import Table, parquet

    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n(gs) run showpage\n"
    value = draw.choice([{"bytes": None, "path": name}, {"bytes": eps, "path": None}])
    schema = Features({"q": Value("string"), "a": Value("string"), "image": Image()}).arrow_schema
    (folder / "ds").mkdir()
    parquet.write_table(
        Table.from_pylist([{"q": "x", "a": "b", "image": value}], schema), folder / "ds" / "test.parquet"
    )
    (folder / "t.yaml").write_text(_task("dataset_path: ./ds\ndoc_to_image: [image]"))
    return folder / "t.yaml"


def _included(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    """Write a task that is made of other files."""
    del kind
    text = _task("dataset_path: json\ndataset_kwargs: {data_files: {test: own.jsonl}}")
    more = ["include: %s", "use_prompt: %s:x", "doc_to_text: !function %s", "process_docs: !function link.s.x"]
    more += ["fewshot_config: {samples: !function %s}", "generation_kwargs: {chat_template: %s}", "doc_to_image: %s"]
    (folder / "own.jsonl").write_text('{"q": "own", "a": "b"}\n')
    chosen = draw.choice(more)
    (folder / "t.yaml").write_text(text + (chosen % json.dumps(name) if "%s" in chosen else chosen) + "\n")
    return folder / "t.yaml"


def _archive(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    """Write rows in an archive with members that lead elsewhere."""
    away = os.path.realpath(folder / "link")
    if draw.random() < 0.5:
        with tarfile.open(folder / "r.tar", "w") as made:
            for member, target in ((f"s.{kind}", f"{away}/s.{kind}"), ("up", "../..")):
                link = tarfile.TarInfo(member)
                link.type, link.linkname = tarfile.SYMTYPE, target
                made.addfile(link)
        source = f"tar://s.{kind}::r.tar"
    else:
        with zipfile.ZipFile(folder / "r.zip", "w") as made_zip:
            link_in_zip = zipfile.ZipInfo(f"s.{kind}")
            link_in_zip.external_attr = 0o120777 << 16
            made_zip.writestr(link_in_zip, f"{away}/s.{kind}")
            made_zip.writestr(f"../{name[:9]}/s.jsonl", "EVIL")
        source = draw.choice(["r.zip", f"zip://s.{kind}::r.zip", f"zip://*::{name}"])
    return _lm_eval(folder, source, kind, draw)


def _run_folder(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    """Write a run of which a part leads elsewhere."""
    run, away = folder / "run", os.path.realpath(folder / "link")
    run.mkdir()
    (run / "run.yaml").write_text(
        json.dumps({"model": "scripted", "model_args": {"answer": "b"}, "tasks": ["samples.science"], "limit": 1})
    )
    score = {"accuracy": 1.0, "n": 1, "failures": 0, "main_score": "accuracy"}
    (run / "results.json").write_text(json.dumps({"results": {"samples.science": score}, "run": {"log": name}}))
    (run / "samples.jsonl").write_text(json.dumps({"exam": "samples.science", "instance": "x", "scores": {"a": 1}}))
    part = draw.choice(["run.yaml", "results.json", "samples.jsonl", ".lock", "task", "model", "log", "others"])
    if part in ("task", "model", "log", "others"):
        said = {"model": "scripted", "model_args": {"answer": "b"}, "tasks": ["samples.science"], "limit": 1}
        said |= {
            "task": {"tasks": [name]},
            "model": {"model": "replay", "model_args": {"path": name}},
            "log": {"log": f"{away}/new.db", "output": away},
            "others": {"precision": 0.1, "others": [name]},
        }[part]
        (run / "run.yaml").write_text(json.dumps(said))
    else:
        (run / part).unlink(missing_ok=True)
        (run / part).symlink_to(f"{away}/s.{kind}" if draw.random() < 0.7 else f"{away}/new.json")
    return run


def _record(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    """Write a record of another system, with its samples elsewhere."""
    del kind
    away = os.path.realpath(folder / "link")
    samples = {"detailed_evaluation_results": {"file_path": name, "format": "jsonl"}}
    place = folder / draw.choice(["record.json", "samples_t_2026.jsonl", "log.json"])
    if place.suffix == ".jsonl":
        place.symlink_to(f"{away}/s.jsonl")
    else:
        place.write_text(json.dumps({"schema_version": "0.3.0", "evaluation_results": [], **samples}))
        (folder / f"{place.stem}_samples.jsonl").symlink_to(f"{away}/s.jsonl")
    return place


def _log(folder: Path, name: str, kind: str, draw: random.Random) -> Path:
    """Write a response log that leads elsewhere: a link, a database that attaches another."""
    del kind
    away = os.path.realpath(folder / "link")
    place = folder / "log.db"
    if draw.random() < 0.5:
        place.symlink_to(f"{away}/{draw.choice(['new.db', 's.json'])}")
        return place
    with contextlib.closing(sqlite3.connect(place)) as connection:
        connection.execute(f"PRAGMA application_id = {0x50524354}")
        connection.execute("PRAGMA user_version = 3")
        connection.execute("CREATE TABLE other (x)")
        connection.execute(f"CREATE VIEW responses AS SELECT readfile('{name.replace(chr(39), '')}') AS body")
    return place


Maker = Callable[[Path, str, str, random.Random], Path]
_SCRIPTED = ("--model", "scripted", "--model-args", "answer=b")
_EXAM_COMMANDS = (
    *(("show", "{}", "--docs", "1"), ("show", "{}", "--steps"), ("validate", "{}"), ("ls", "--include-path", ".")),
    *(("run", "{}", *_SCRIPTED, "--output", "out"), ("plan", "{}", *_SCRIPTED)),
    ("gate", "{}", *_SCRIPTED, "--at-least", "0.5", "--junit", "out.xml"),
    *(("convert", "{}", "--to", "lm-eval", "--output", "out.yaml"), ("convert", "{}", "--to", "unitxt")),
)
_RUN_COMMANDS = (
    *(("run", "{}"), ("report", "{}", "--output", "out.html"), ("compare", "{}", "{}"), ("why", "{}", "{}")),
    *(("same", "{}", "{}"), ("export", "{}", "--to", "lm-eval", "--output", "out")),
)
_EXAMS: tuple[Maker, ...] = (
    *(_lm_eval, _card, _linked_folder, _loader, _step, _table, _config, _hub_yaml, _pictures, _included, _archive),
)
MAKERS: tuple[tuple[Maker, tuple[tuple[str, ...], ...]], ...] = (
    *((maker, _EXAM_COMMANDS) for maker in _EXAMS),
    (_run_folder, _RUN_COMMANDS),
    (_record, (("import", "{}", "--output", "out"), ("why", "{}", "{}"))),
    (_log, (("run", "samples.science", "--limit", "1", *_SCRIPTED, "--log", "{}"), ("log", "show", "--log", "{}"))),
)
KINDS = ("jsonl", "json", "csv", "txt")


def stranger(number: int, folder: Path, where: Canaries) -> list[str]:
    """Write the stranger's folder of a number, and return the words of a command that uses it."""
    draw = random.Random(number)
    kind = draw.choice(KINDS)
    _write_links(folder, where, kind)
    maker, commands = MAKERS[number % len(MAKERS)]
    exam = maker(folder, draw.choice(_names(where, kind)), kind, draw)
    return [exam.name if word == "{}" else word for word in draw.choice(commands)]


def used(folder: Path, words: list[str], *, gate: bool, wall: bool = True, kernel: bool = True) -> str:
    """Return what a command says that uses a folder: in a process of its own, behind a wall of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8", errors="replace") as file:
            said = file.read()
        os.waitpid(child, 0)
        return said
    atexit._clear()  # what the original would remove at its end stays
    status = 1
    try:
        os.close(reading)
        os.chdir(folder)
        stream = io.TextIOWrapper(os.fdopen(writing, "wb"), encoding="utf-8", errors="replace", write_through=True)
        sys.stdout = sys.stderr = stream
        os.environ["STRANGERS_SECRET"] = f"{SECRET}-of-the-environment"
        status = _use(words, gate=gate, wall=wall, kernel=kernel)
        stream.flush()
        atexit._run_exitfuncs()  # what is temporary goes
    finally:
        os._exit(status)


def _use(words: list[str], *, gate: bool, wall: bool, kernel: bool) -> int:
    from proctor import effects
    from proctor.cli.__main__ import main
    from proctor.wall import raising

    if not kernel:
        raising.what_can_stand = lambda: raising.Wall(why_not="left out")
    if not gate:
        effects.missing = lambda *_: []  # what every refusal is made of
    sys.argv = ["proctor", *words, *([] if wall or words[0] == "log" else ["--no-wall"])]
    return main()


def _written(folder: Path) -> str:
    """Return what a command wrote into a folder that began without a secret: links are not followed."""
    files = [Path(where, name) for where, _, names in os.walk(folder) for name in names]
    return "".join(each.read_text(errors="replace") for each in files if each.is_file() and not each.is_symlink())


def effects_of(numbers: range, *, gate: bool, wall: bool = True, kernel: bool = True) -> list[str]:
    """Return what using strangers' folders did, one line for each that did something."""
    found = []
    with canaries() as where:
        before = where.state()
        for number in numbers:
            folder = Path(tempfile.mkdtemp(prefix="stranger-"))
            try:
                words = stranger(number, folder, where)
                said = used(folder, words, gate=gate, wall=wall, kernel=kernel)
                about = f"{number} {' '.join(words)}"
                if os.environ.get("STRANGERS_TALK"):
                    print(about, said[:500], "", sep="\n")
                if SECRET in (what := said + _written(folder)):
                    found.append(f"{about}: a secret was read: {what[max(what.index(SECRET) - 80, 0) :][:160]!r}")
                if "unexpected error" in said:
                    found.append(f"{about}: {said!r}")
                if where.state() != before:
                    found.append(f"{about}: something was asked, written or started")
                    before = where.state()
            finally:
                shutil.rmtree(folder)
    return found


if __name__ == "__main__":
    COUNT = int(sys.argv[1]) if sys.argv[1:] else 2000
    with tempfile.TemporaryDirectory(prefix="strangers-home-") as HOME:
        os.environ.update(HOME=HOME, XDG_DATA_HOME=f"{HOME}/data", XDG_CACHE_HOME=f"{HOME}/cache", HF_HUB_OFFLINE="1")
        importlib.import_module("datasets")
        for MODULE in pkgutil.walk_packages(proctor.__path__, "proctor."):  # once, and not in each child
            if MODULE.name.split(".")[1] not in ("__main__", "guests", "compat", "integrations", "testing", "web"):
                importlib.import_module(MODULE.name)
        FAILED = False
        for GATE, KERNEL in ((True, True), (False, True), (True, False), (False, False)):
            FOUND = effects_of(range(COUNT), gate=GATE, kernel=KERNEL)
            STANDS = f"the gate {'on' if GATE else 'off'}, {'the kernel and ' if KERNEL else ''}the watch"
            print(f"{COUNT} folders, {STANDS}: {len(FOUND)} effects", *FOUND, sep="\n", flush=True)
            FAILED = FAILED or bool(FOUND)
        sys.exit(FAILED)
