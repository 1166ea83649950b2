"""Pictures in prompts."""

import base64
import io

import pytest

from proctor.engines.http import inline_media
from proctor.engines.http.inline_media import MAX_PIXELS_A_SIDE, image_url, split_data_url, with_inline_media
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.protocols.bedrock import BedrockProtocol
from proctor.engines.http.protocols.native_generate import NativeGenerateProtocol
from proctor.engines.http.protocols.ollama import OllamaProtocol
from proctor.engines.http.protocols.openai import OpenAIProtocol
from proctor.engines.http.protocols.replicate import ReplicateProtocol
from proctor.engines.http.retrying_client import CallError
from proctor.ir import Generate, Prompt
from proctor.testing import FaultServer

Image = pytest.importorskip("PIL.Image")


def decoded(url):
    media_type, data = split_data_url(url)
    return media_type, Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.mark.parametrize("url", ["https://h/x.png", "http://h/x.png", "data:image/png;base64,AAAA"])
def test_urls_stay_as_they_are(url):
    assert image_url(url) == url


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "CMYK", "1"])
def test_pil_images_of_every_mode(mode):
    media_type, image = decoded(image_url(Image.new(mode, (8, 4))))
    assert media_type == "image/png"
    assert image.size == (8, 4)


def test_large_pictures_are_scaled_down():
    _, image = decoded(image_url(Image.new("RGB", (5000, 100))))
    assert max(image.size) == MAX_PIXELS_A_SIDE


@pytest.mark.parametrize("size, kind", [((1024, 1024), "png"), ((1024, 1032), "jpeg")])
def test_an_opaque_picture_is_lossy_from_a_quarter_of_the_largest_on(size, kind):
    assert decoded(image_url(Image.new("RGB", size)))[0] == f"image/{kind}"
    assert decoded(image_url(Image.new("RGBA", size)))[0] == "image/png"


@pytest.mark.parametrize("name, kind", [("a.png", "PNG"), ("a.jpg", "JPEG"), ("a.bmp", "BMP"), ("a.tiff", "TIFF")])
def test_paths(tmp_path, name, kind):
    path = tmp_path / name
    Image.new("RGB", (8, 4)).save(path, kind)
    for source in (str(path), path, f"file://{path}"):
        media_type, image = decoded(image_url(source))
        assert image.size == (8, 4)
        assert media_type in ("image/png", "image/jpeg")


def test_pictures_that_cannot_be_read(tmp_path):
    broken = tmp_path / "x.bmp"
    broken.write_bytes(b"not a picture")
    with pytest.raises(CallError, match="cannot be read"):
        image_url(str(broken))
    with pytest.raises(CallError, match=r"nowhere\.png"):
        image_url(str(tmp_path / "nowhere.png"))


def test_messages_without_pictures_are_not_copied():
    messages = ({"role": "user", "content": "x"},)
    assert with_inline_media(messages) is messages


def test_a_picture_reaches_the_server(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (8, 4)).save(path)
    seen = []

    def answer(body):
        seen.append(body["messages"][0]["content"])
        return "a picture"

    parts = [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": str(path), "detail": "low"}}]
    with FaultServer(answer=answer) as server:
        engine = OpenAIEngine(model="m", base_url=server.url)
        [(_, good)] = list(engine.generate([Generate(Prompt([{"role": "user", "content": parts}]))]))
        bad = [{"type": "image_url", "image_url": {"url": str(tmp_path / "nowhere.png")}}]
        [(_, failed)] = list(engine.generate([Generate(Prompt([{"role": "user", "content": bad}]))]))
    assert good.text == "a picture"
    assert seen[0][1]["image_url"]["detail"] == "low"
    assert seen[0][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert "nowhere.png" in failed.failure.message


@pytest.mark.parametrize("name, kind", [("a.png", "JPEG"), ("a.jpg", "PNG"), ("a", "PNG"), ("a.gif", "WEBP")])
def test_a_picture_is_labelled_by_its_bytes_and_not_by_its_name(tmp_path, name, kind):
    path = tmp_path / name
    Image.new("RGB", (8, 4)).save(path, kind)
    assert image_url(str(path)).startswith(f"data:image/{kind.lower()};base64,")


def chat(kind, source):
    return Prompt([{"role": "user", "content": [{"type": kind, kind: {"url": source}}, {"type": "text", "text": "?"}]}])


def first_part(prompt):
    return prompt.messages[0]["content"][0]


def protocol(kind, url="http://here/v1"):
    return kind(url, "m", {})


SOUND = "data:audio/wav;base64,UklGRgAAAABXQVZF"


def test_a_sound_in_a_file_reaches_servers_as_data(tmp_path):
    path = tmp_path / "a.mp3"  # by its bytes a WAV
    path.write_bytes(b"RIFF\0\0\0\0WAVE")
    sent = first_part(protocol(OpenAIProtocol).inlined(chat("audio_url", str(path))))
    assert sent == {"type": "audio_url", "audio_url": {"url": SOUND}}
    film = first_part(protocol(OpenAIProtocol).inlined(chat("video_url", "file:///films/a.mp4")))
    assert film["video_url"]["url"] == "file:///films/a.mp4", "servers on this machine read it"
    with pytest.raises(CallError, match=r"nowhere\.mp3"):
        protocol(OpenAIProtocol).inlined(chat("audio_url", str(tmp_path / "nowhere.mp3")))
    native = protocol(NativeGenerateProtocol).inlined(chat("audio_url", str(path)))
    assert first_part(native)["audio_url"]["url"] == str(path), "VITA takes paths"


def test_a_film_that_no_server_takes_is_not_read_into_a_request(tmp_path, monkeypatch):
    monkeypatch.setattr(inline_media, "MAX_BYTES_OF_FILMS", 10)
    (tmp_path / "a.mp4").write_bytes(bytes(11))
    with pytest.raises(CallError, match="11 bytes"):
        protocol(OpenAIProtocol).inlined(chat("video_url", str(tmp_path / "a.mp4")))


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "https://openrouter.ai/api/v1"])
def test_services_that_take_no_address_of_a_sound_get_it_inside(url):
    sent = first_part(protocol(OpenAIProtocol, url).inlined(chat("audio_url", SOUND)))
    assert sent == {"type": "input_audio", "input_audio": {"data": "UklGRgAAAABXQVZF", "format": "wav"}}
    mp3 = first_part(protocol(OpenAIProtocol, url).inlined(chat("audio_url", "data:audio/mpeg;base64,AAAA")))
    assert mp3["input_audio"]["format"] == "mp3"
    with pytest.raises(CallError, match="is an address"):
        protocol(OpenAIProtocol, url).inlined(chat("audio_url", "https://a.b/c.mp3"))
    parts = ["words", {"type": "audio_url", "audio_url": "data:audio/wav;codecs=1;base64,AAAA"}]
    mixed = protocol(OpenAIProtocol, url).inlined(Prompt([{"role": "user", "content": parts}])).payload[0]["content"]
    assert mixed == ["words", {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]
    picture = chat("image_url", "data:image/png;base64,AAAA")
    assert protocol(OpenAIProtocol, url).inlined(picture) == picture


@pytest.mark.parametrize("kind", ["audio_url", "video_url", "input_audio", "file"])
@pytest.mark.parametrize("of", [OllamaProtocol, BedrockProtocol, ReplicateProtocol])
def test_what_a_protocol_has_no_place_for_is_refused_and_not_left_out(of, kind):
    with pytest.raises(CallError, match=f"holds {kind}"):
        protocol(of).inlined(chat(kind, SOUND))


def test_pictures_go_where_a_protocol_has_a_place_for_them():
    picture = chat("image_url", "data:image/png;base64,AAAA")
    for of in (OllamaProtocol, BedrockProtocol):
        assert protocol(of).inlined(picture) == picture
    with pytest.raises(CallError, match="image_url"):
        protocol(ReplicateProtocol).inlined(picture)
