from __future__ import annotations

import io
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import ModuleType, SimpleNamespace

import pytest

from proctor.data.hub_loaders import LoadFromHFSpace, TURLColumnTypeAnnotationLoader
from proctor.data.remote import LoadFromAPI, LoadFromIBMCloud, LoadFromKaggle, LoadFromSklearn
from proctor.errors import DataError, DatasetNotFoundError, MissingExtraError, ValidationError

CLOUD = {"endpoint_url_env": "E", "aws_access_key_id_env": "K", "aws_secret_access_key_env": "S", "bucket_name": "b"}


@pytest.fixture
def server():
    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            codes = {"/rows": 200, "/list": 200, "/text": 200}
            bodies = {
                "/rows": {
                    "data": [
                        {"a": i, "key": self.headers.get("Authorization"), "method": self.command} for i in range(3)
                    ]
                },
                "/list": [{"a": 1}],
            }
            self.send_response(codes.get(self.path, 500))
            self.end_headers()
            self.wfile.write(json.dumps(bodies[self.path]).encode() if self.path in bodies else b"nonsense")

        do_GET = do_POST = answer

        def log_message(self, *arguments):
            pass

    running = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


def test_rows_come_from_a_web_service(server, monkeypatch):
    monkeypatch.setenv("KEY", "secret")
    loader = LoadFromAPI(urls={"test": f"{server}/rows"}, api_key_env_var="KEY", method="POST", loader_limit=2)
    rows = list(loader()["test"])
    assert [row["a"] for row in rows] == [0, 1]
    assert rows[0] == {"a": 0, "key": "Bearer secret", "method": "POST", "data_classification_policy": ["proprietary"]}
    assert next(iter(LoadFromAPI(urls={"t": f"{server}/list"}, data_field="")()["t"]))["a"] == 1


@pytest.mark.parametrize(
    "path, options, words",
    [
        ("/list", {}, "has no 'data'"),
        ("/rows", {"data_field": ""}, "not a list of rows"),
        ("/text", {}, "cannot be loaded"),
        ("/nothing", {}, "cannot be loaded"),
        ("/rows", {"api_key_env_var": "NO_KEY"}, "NO_KEY is not set"),
    ],
)
def test_a_web_service_that_answers_something_else(server, path, options, words):
    with pytest.raises(DataError, match=words):
        LoadFromAPI(urls={"t": f"{server}{path}"}, **options)()


def test_only_web_addresses_are_asked():
    with pytest.raises(ValidationError, match="not an address"):
        LoadFromAPI(urls={"t": "file:///etc/passwd"})
    with pytest.raises(ValidationError, match="cannot send DELETE"):
        LoadFromAPI(urls={"t": "http://x"}, method="DELETE")


@pytest.fixture
def bucket(monkeypatch):
    """A stand-in for boto3 with three objects."""
    objects = {
        "d/train.jsonl": b'{"a": 1}\n{"a": 2}\n{"a": 3}\n',
        "d/test.jsonl": b'{"a": 9}\n',
    }
    asked = []

    class Body(io.BytesIO):
        def iter_chunks(self, size):
            yield from iter(lambda: self.read(size), b"")

        def iter_lines(self):
            yield from (line.rstrip(b"\n") for line in self)

    class ClientError(Exception):
        pass

    class Client:
        def get_object(self, Bucket, Key):
            asked.append(Key)
            if Key not in objects:
                raise ClientError(f"no {Key}")
            return {"Body": Body(objects[Key])}

    boto3 = ModuleType("boto3")
    boto3.client = lambda kind, **options: Client()
    exceptions = ModuleType("botocore.exceptions")
    exceptions.BotoCoreError = exceptions.ClientError = ClientError
    for name, module in {"boto3": boto3, "botocore": ModuleType("botocore"), "botocore.exceptions": exceptions}.items():
        monkeypatch.setitem(sys.modules, name, module)
    for name in "EKS":
        monkeypatch.setenv(name, "x")
    return asked


def test_files_come_from_object_storage_once(bucket):
    pytest.importorskip("datasets")
    files = {"train": "train.jsonl", "test": ["test.jsonl"]}
    loader = LoadFromIBMCloud(**CLOUD, data_dir="d", data_files=files, loader_limit=2)
    assert loader.file_names() == ["train.jsonl", "test.jsonl"]
    streams = loader()
    assert [row["a"] for row in streams["train"]] == [1, 2]
    assert streams["test"].peek() == {"a": 9, "data_classification_policy": ["proprietary"]}
    assert bucket == ["d/train.jsonl", "d/test.jsonl"]
    loader()
    assert len(bucket) == 2


def test_object_storage_without_keys_files_or_library(bucket, monkeypatch):
    with pytest.raises(DatasetNotFoundError, match=r"'x\.json' cannot be downloaded from the bucket 'b'"):
        LoadFromIBMCloud(**CLOUD, data_files=["x.json"])()
    monkeypatch.delenv("K")
    with pytest.raises(DataError, match="K are not set"):
        LoadFromIBMCloud(**CLOUD, data_files=["x.json"])()
    monkeypatch.setenv("K", "x")
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'proctor\[loaders\]'"):
        LoadFromIBMCloud(**CLOUD, data_files=["x.json"])()


def test_datasets_of_sklearn(monkeypatch):
    datasets = pytest.importorskip("sklearn.datasets")
    data = {"data": ["x", "y"], "target": [1, 0], "target_names": ["no", "yes"]}
    monkeypatch.setattr(datasets, "fetch_20newsgroups", lambda subset: data)
    rows = list(LoadFromSklearn(dataset_name="20newsgroups", splits=["test"])()["test"])
    assert rows[0] == {"data": "x", "target": "yes", "data_classification_policy": ["public"]}
    with pytest.raises(DatasetNotFoundError, match="did you mean '20newsgroups'"):
        list(LoadFromSklearn(dataset_name="20newsgrops")()["test"])


def test_datasets_of_kaggle(monkeypatch, tmp_path):
    pytest.importorskip("datasets")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("a,b\n1,x\n", encoding="utf-8")
    asked = []
    client = ModuleType("kagglehub")
    client.dataset_download = lambda name: asked.append(name) or str(tmp_path / "data")
    monkeypatch.setitem(sys.modules, "kagglehub", client)
    loader = LoadFromKaggle(url="https://www.kaggle.com/datasets/owner/name?x=1")
    assert loader()["train"].peek() == {"a": 1, "b": "x", "data_classification_policy": ["public"]}
    assert asked[0] == "owner/name"
    monkeypatch.setitem(sys.modules, "kagglehub", None)
    with pytest.raises(MissingExtraError, match="kagglehub"):
        loader()


def test_files_of_a_space(monkeypatch, tmp_path):
    space = tmp_path / "owner" / "space"
    space.mkdir(parents=True)
    (space / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    (space / "bad.jsonl").write_text('{"a": 1}\n[1]\n', encoding="utf-8")
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(tmp_path))
    loader = LoadFromHFSpace(space_name="owner/space", data_files={"test": "a.jsonl", "bad": ["bad.jsonl"]})
    assert [row["a"] for row in loader()["test"]] == [1, 2]
    with pytest.raises(DataError, match=r"bad\.jsonl:2:1"):
        list(loader()["bad"])
    assert LoadFromHFSpace(space_name="owner/space", data_files="a.jsonl").get_splits() == ["train"]
    (space / "more").mkdir()
    for name in ("y", "x"):
        (space / "more" / f"{name}.jsonl").write_text(json.dumps({"a": name}), encoding="utf-8")
    every = LoadFromHFSpace(space_name="owner/space", data_files={"test": "more/*.jsonl"})
    assert [row["a"] for row in every()["test"]] == ["x", "y"]


def test_a_space_that_cannot_be_reached(monkeypatch):
    pytest.importorskip("huggingface_hub")
    loader = LoadFromHFSpace(
        space_name="owner/none", data_files={"test": "a.jsonl", "all": "*.jsonl"}, token_env="NO_TOKEN", use_token=True
    )
    with pytest.raises(DataError, match="NO_TOKEN is not set"):
        list(loader()["test"])
    monkeypatch.setenv("NO_TOKEN", "x")
    import huggingface_hub

    def refuse(*arguments, **options):
        raise OSError("offline")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: SimpleNamespace(list_repo_files=refuse))
    for split in ("test", "all"):
        with pytest.raises(DatasetNotFoundError, match="cannot be downloaded"):
            list(loader()[split])


def test_columns_of_turl(monkeypatch, tmp_path):
    folder = tmp_path / "stanford-crfm" / "helm-scenarios" / "turl-column-type-annotation"
    folder.mkdir(parents=True)
    cells = [[[[0, 0], [1, "Rome"]], [[1, 0], [2, "Oslo"]]], [[[1, 1], [3, "Norway"]]]]
    page = ["id", "Cities", 0, "List", "caption", ["city", "country"], cells, [["location.city"], ["location.country"]]]
    (folder / "dev.table_col_type.json").write_text(json.dumps([page]), encoding="utf-8")
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(tmp_path))
    rows = list(TURLColumnTypeAnnotationLoader()()["validation"])
    assert [row["colname"] for row in rows] == ["city", "country"]
    assert rows[0]["table"] == {"header": ["city", "country"], "rows": [["Rome", ""]]}
    assert rows[1]["annotations"] == ["location.country"]
