import json

import pytest

from proctor.errors import UsageError
from proctor.web.tokens import token_counter

tokenizers = pytest.importorskip("tokenizers")


@pytest.fixture
def model(tmp_path):
    """A model folder with a tokenizer that cuts at blanks."""
    folder = tmp_path / "model"
    folder.mkdir()
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 20}))
    return folder


def test_tokens_are_counted_with_the_models_own_tokenizer(model):
    counter = token_counter(str(model))
    assert (counter.count("three little words"), counter.context) == (3, 20)


def test_a_tokenizer_that_is_not_here_or_broken(tmp_path, model):
    with pytest.raises(UsageError, match="not on this machine"):
        token_counter("org/model")
    (model / "tokenizer.json").write_text("{")
    with pytest.raises(UsageError, match="cannot be read"):
        token_counter(str(model))


def test_the_page_counts_and_warns(client, model, monkeypatch):
    query = "/explore/exam?exam=samples.arithmetic&model="
    assert "nobody allowed that" in client.get(f"{query}{model}").text
    monkeypatch.setenv("PROCTOR_MODELS_DIR", str(model.parent))
    page = client.get(f"{query}{model.name}").text
    assert " tokens</span>" in page
    assert "are more than the 20 that" in page


def test_the_page_says_when_it_cannot_count(client):
    page = client.get("/explore/exam?exam=samples.arithmetic&model=org/model").text
    assert "not on this machine" in page
    assert "part-question" in page
