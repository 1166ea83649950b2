"""What a model is loaded with, and what is said where it cannot be; nothing is loaded here but a tiny tokenizer."""

from types import SimpleNamespace

import pytest
from tiny_models import build_tokenizer

from proctor.engines.hf import loading
from proctor.engines.hf.answers import _shared as of_one_batch
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.loading import LoadedModel, ModelSource, loading_failed
from proctor.errors import EngineError, MissingExtraError
from proctor.ir import Decoding, Prompt
from proctor.settings import settings

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    return folder, build_tokenizer(folder)


class Net(torch.nn.Linear):
    """A model with ten numbers."""

    device, dtype = torch.device("cpu"), torch.float16

    def __init__(self, **config):
        super().__init__(4, 2)
        self.config = SimpleNamespace(**config)


def test_a_model_in_memory_tells_what_requests_need(words):
    _, tokenizer = words
    model = Net(n_positions=16, is_encoder_decoder=True, _commit_hash="abc")
    loaded = loading.loaded_in_memory(model, tokenizer)
    assert (loaded.family, loaded.max_length, loaded.num_parameters) == ("seq2seq", 16, 10)
    assert not loaded.model.training
    assert loading.loaded_in_memory(Net(), SimpleNamespace(model_max_length=8)).family == "causal"
    assert loading.facts_of(loaded) == {
        "model_num_parameters": 10,
        "model_dtype": "torch.float16",
        "model_sha": "abc",
        "device": "cpu",
        "eot_token_id": 2,
        "chat_template": tokenizer.chat_template,
        "tokenizer_pad_token": ["<pad>", "0"],
        "tokenizer_eos_token": ["</s>", "2"],
        "tokenizer_bos_token": ["<s>", "1"],
    }
    several = SimpleNamespace(eos_token_id=1, chat_template={"default": "x"})
    plain = LoadedModel(Net(), several, "causal", "cpu", 4)
    found = loading.facts_of(plain)
    assert (found["model_num_parameters"], found["model_sha"], found["chat_template"]) == (10, "", None)


@pytest.mark.parametrize(
    "config, tokenizer, length",
    [
        ({"n_positions": 5, "n_ctx": 6}, {}, 5),
        ({"max_position_embeddings": 7}, {"model_max_length": 9}, 7),
        ({"n_ctx": 6, "text_config": SimpleNamespace(n_ctx=3)}, {}, 3),
        ({}, {"model_max_length": 9}, 9),
        ({}, {"model_max_length": int(1e30)}, 2048),
        ({}, {}, 2048),
    ],
)
def test_the_length_of_a_context_is_the_configurations_else_the_tokenizers(config, tokenizer, length):
    assert loading.max_length_of(SimpleNamespace(**config), SimpleNamespace(**tokenizer)) == length


def test_the_family_of_a_model_is_what_it_reads():
    families = [{"is_encoder_decoder": True, "vision_config": 1}, {"vision_config": 1}, {}]
    assert [loading.family_of(SimpleNamespace(**each)) for each in families] == ["seq2seq", "image-text", "causal"]


def test_a_device_or_a_type_that_is_not_here_is_refused(monkeypatch):
    assert loading._dtype("torch.float16") is loading._dtype("float16") is torch.float16
    with pytest.raises(EngineError, match="there is no dtype 'nn'"):
        loading._dtype("nn")
    with pytest.raises(EngineError, match="there is no device 'gpu'"):
        loading.pick_device("gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert loading.pick_device("auto") == torch.device("cpu")
    with pytest.raises(EngineError, match="the device 'cuda:1' is not here"):
        loading.pick_device("cuda:1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert loading.pick_device("auto") == torch.device("cuda")


def test_the_tokenizer_may_be_another_models(words):
    folder, tokenizer = words
    source = ModelSource(name="nobody/nothing", tokenizer=str(folder), revision="r", subfolder="s")
    with settings.context(offline=True):
        assert loading.load_tokenizer_alone(source).get_vocab() == tokenizer.get_vocab()


def test_a_tokenizer_pads_with_what_it_has(monkeypatch):
    import transformers

    def padding(**has):
        made = SimpleNamespace(**{"pad_token_id": None, "unk_token": None, "eos_token": None, "pad_token": None} | has)
        made.convert_ids_to_tokens = lambda number: f"token {number}"
        monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: made)
        return loading.load_tokenizer(ModelSource(name="x"), "x", "causal", {})[0].pad_token

    assert padding(pad_token_id=0, pad_token="p", unk_token="u") == "p"
    assert padding(unk_token="u", eos_token="e") == "u"
    assert padding(eos_token="e") == "e"
    assert padding() == "token 0"


def test_an_adapter_is_put_upon_the_model_and_names_its_package_where_that_is_missing(monkeypatch):
    asked = []
    model = SimpleNamespace(from_pretrained=lambda *given, **more: asked.append((given, more)))
    monkeypatch.setattr(loading, "find_spec", lambda name: True)
    monkeypatch.setattr(loading, "import_module", lambda name: SimpleNamespace(PeftModel=model))
    with settings.context(offline=True):
        loading._with_adapter("model", "o/adapter")
    assert asked == [(("model", "o/adapter"), {"local_files_only": True})]
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="the adapter 'o/adapter'.*peft"):
        loading._with_adapter("model", "o/adapter")
    with pytest.raises(MissingExtraError, match="a purpose"):
        loading.require_packages("a purpose")


def test_weights_may_be_spread_and_those_that_are_quantized_stay_where_they_are(monkeypatch):
    moved, asked = [], []

    class Placed:
        hf_quantizer = None

        def to(self, device):
            moved.append(str(device))
            return self

        def eval(self):
            return self

    kind = SimpleNamespace(from_pretrained=lambda place, **more: asked.append(more) or Placed())
    with settings.context(offline=True):
        loading.load_weights(ModelSource(name="o/m", device="cpu", dtype="float16"), "causal", kind)
        loading.load_weights(ModelSource(name="o/m", device="cpu", device_map="auto", revision="r"), "causal", kind)
        monkeypatch.setattr(Placed, "hf_quantizer", object())
        loading.load_weights(ModelSource(name="o/m", device="cpu", options={"dtype": "auto"}), "causal", kind)
    assert moved == ["cpu"]
    shared = {"trust_remote_code": False, "local_files_only": True}
    assert asked == [
        {**shared, "dtype": torch.float16},
        {**shared, "revision": "r", "dtype": "auto", "device_map": "auto"},
        {**shared, "dtype": "auto"},
    ]


def test_where_a_model_was_looked_for_is_said(tmp_path, monkeypatch):
    def said(name, error, place=None):
        return str(loading_failed(ModelSource(name=name), place or name, error))

    assert "does not fit into memory" in said("o/m", MemoryError("x"))
    assert "cannot be loaded from /else" in said("o/m", OSError("\nfirst\nsecond"), "/else")
    assert "first" in said("o/m", OSError("\nfirst\nsecond"), "/else")
    assert "second" not in said("o/m", OSError("\nfirst\nsecond"), "/else")
    assert f"cannot be loaded from {tmp_path}" in said(str(tmp_path), OSError("x"))
    assert "there is no folder './none'" in said("./none", OSError("x"))
    with settings.context(offline=True, models_dir=str(tmp_path)):
        text = said("o/m", KeyError())
    assert f"KeyError; looked in {tmp_path / 'o/m'}, the Hugging Face cache" in text
    assert "the hub was not asked: offline" in text
    for answers, words in ((True, "), the hub\n"), (False, "), the hub does not answer")):
        monkeypatch.setattr(loading, "is_offline", lambda: False)
        monkeypatch.setattr(loading, "hub_answers", lambda answers=answers: answers)
        assert words in said("o/m", OSError("x")) + "\n"


def test_an_engine_tells_what_it_reads_and_what_it_knows_of_a_model_that_was_not_loaded(words):
    folder, tokenizer = words
    engine = HFEngine("o/m", tokenizer="o/t", peft="o/a", revision="r", batch_size="8", device="cpu")
    assert {each.target for each in engine.effects()} == {"o/m", "o/t", "o/a"}
    assert engine.facts() == {
        "model_revision": "r",
        "batch_size": 8,
        "model_num_parameters": None,
        "model_dtype": None,
        "model_sha": "",
        "device": "cpu",
    }
    engine.close()
    engine.keep(LoadedModel(Net(), tokenizer, "causal", torch.device("cpu"), 12))
    assert engine.facts()["max_length"] == 12
    assert engine.facts()["model_num_parameters"] == 10
    chat = Prompt([{"role": "user", "content": "the cat"}])
    assert engine.text_of(Prompt("the cat")) == "the cat"
    assert engine.text_of(chat) == "<s>user: the cat</s><s>assistant: "
    assert engine.text_of(Prompt([{"role": "user", "content": [{"type": "image"}]}])) is None
    assert engine.count_tokens(chat) == len(tokenizer.encode(engine.text_of(chat), add_special_tokens=False))
    engine.close()
    assert engine._loaded is None
    assert HFEngine(str(folder)).has_chat_template
    assert HFEngine("o/m", chat_template="x").has_chat_template


def test_drafts_that_differ_in_what_a_batch_does_not_share_run_together():
    first = Decoding(max_tokens=5, stop=("a",), seed=1, count=3)
    assert of_one_batch(first) == of_one_batch(Decoding(max_tokens=5, stop=(), seed=2, count=2))
    assert of_one_batch(first) != of_one_batch(Decoding(max_tokens=6))
