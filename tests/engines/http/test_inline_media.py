"""Pictures in prompts."""

import base64
import io

import pytest

from proctor.engines.http.inline_media import MAX_PIXELS_A_SIDE, image_url, split_data_url, with_inline_media
from proctor.engines.http.openai_engine import OpenAIEngine
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
