"""Files of rows that are larger or deeper than they look end in words, whichever library would have read them."""

import gzip

import pytest

from proctor.data import bounds


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(bounds, "SMALL_BYTES", 1 << 16)


def task(folder, kind, file):
    path = folder / "t.yaml"
    path.write_text(
        f"task: t\ndataset_path: {kind}\ndataset_kwargs: {{data_files: {file}}}\ntest_split: train\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"
    )
    return str(path)


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.jsonl.gz"])
def test_a_task_whose_rows_are_nested_ends_in_words(tmp_path, invoke, name):
    data = b'{"q": "q", "a": ' + b"[" * 300_000 + b"]" * 300_000 + b"}\n"
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    code, _, err = invoke("show", task(tmp_path, "json", name))
    assert code == 2
    assert "values of the file are nested more than 200 deep" in err
    assert name in err


def test_a_task_whose_rows_unpack_for_ever_ends_in_words(tmp_path, invoke, tiny):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b'q,a\n"' + b"x" * 9_000_000 + b'",1\n'))
    code, _, err = invoke("show", task(tmp_path, "csv", "x.csv.gz"))
    assert code == 2
    assert "would unpack" in err
