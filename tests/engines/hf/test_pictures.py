from __future__ import annotations

import base64
import io
from typing import Any

import pytest

from proctor.engines.encoder import RefusedError
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.pictures import has_pictures, open_picture
from proctor.ir import Decoding, Generate, Likelihood, Prompt
from proctor.settings import settings

pytest.importorskip("PIL")


def picture(red: int) -> Any:
    from PIL import Image

    return Image.new("RGB", (16, 16), (red, 255 - red, 100))


def png(red: int) -> bytes:
    buffer = io.BytesIO()
    picture(red).save(buffer, "PNG")
    return buffer.getvalue()


def data_url(red: int) -> str:
    return f"data:image/png;base64,{base64.b64encode(png(red)).decode()}"


def question(*parts: Any) -> Prompt:
    return Prompt([{"role": "user", "content": [*parts, {"type": "text", "text": "the cat"}]}])


def shown(url: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def test_a_picture_may_come_in_many_ways(tmp_path):
    (tmp_path / "a.png").write_bytes(png(7))
    for source in (data_url(7), str(tmp_path / "a.png"), f"file://{tmp_path}/a.png", png(7), picture(7)):
        assert open_picture(source).getpixel((0, 0)) == (7, 248, 100)


@pytest.mark.parametrize("source", ["/no/such/file.png", "data:image/png;base64,!!!", b"no picture"])
def test_a_picture_that_cannot_be_read_is_refused(source):
    with pytest.raises(RefusedError, match="picture"):
        open_picture(source)


def test_nothing_is_fetched_offline():
    with settings.context(offline=True), pytest.raises(RefusedError, match="offline"):
        open_picture("http://127.0.0.1:9/a.png")


def test_a_dead_server_is_a_refusal():
    with pytest.raises(RefusedError, match=r"127\.0\.0\.1"):
        open_picture("http://127.0.0.1:9/a.png")


def test_only_pictures_count_as_pictures():
    assert has_pictures(question(shown("x")).messages)
    assert not has_pictures(question().messages)
    assert not has_pictures([{"role": "user", "content": "image"}])


def test_pictures_reach_the_model(tiny_llava):
    import torch

    engine = HFEngine(tiny_llava, max_new_tokens=6)
    prompts = [question(shown(data_url(3))), question({"type": "image", "image": picture(250)})]
    found = dict(engine.generate([Generate(prompt) for prompt in prompts]))
    assert engine.loaded.family == "image-text"
    model, processor = engine.loaded.model, engine.loaded.processor
    for index, red in enumerate((3, 250)):
        text = "<s>user: <image>the cat</s><s>assistant: "
        inputs = processor(images=[picture(red)], text=text, return_tensors="pt")
        with torch.inference_mode():
            plain = model.generate(**inputs, max_new_tokens=6, do_sample=False, pad_token_id=0)
        expected = processor.tokenizer.decode(plain[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        assert found[index].text == expected
        assert found[index].usage.prompt_tokens == inputs["input_ids"].shape[1]


def test_requests_without_pictures_and_bad_pictures_go_their_own_way(tiny_llava):
    engine = HFEngine(tiny_llava, max_new_tokens=4)
    requests = [
        Generate(Prompt("the cat"), Decoding(max_tokens=3)),
        Generate(question(shown("/no/such/file.png"))),
        Generate(question(shown(data_url(9)))),
        Generate(
            question(shown(data_url(9)), {"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,AAAA"}})
        ),
    ]
    found = dict(engine.generate(requests))
    assert found[0].usage.completion_tokens > 0
    assert "cannot be read" in found[1].failure.message
    assert found[2].failure is None
    assert "audio_url" in found[3].failure.message


def test_text_can_be_scored_too(tiny_llava):
    ((_, response),) = HFEngine(tiny_llava).score([Likelihood(Prompt("the cat"), " sat on")])
    assert response.scores[0].log_likelihood < 0
