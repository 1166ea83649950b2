from __future__ import annotations

import base64

import pytest

from proctor.data.image_operators import (
    DecodeImage,
    EncodeImageToString,
    GrayScale,
    GridLines,
    HashImage,
    ImageAugmentor,
    ImageFieldOperator,
    ImageToText,
    Oldify,
    PixelNoise,
    ToImage,
    ToRGB,
)
from proctor.data.images import data_url_to_image, image_to_data_url, open_image
from proctor.errors import DataError, ValidationError

Pillow = pytest.importorskip("PIL.Image")


@pytest.fixture
def picture():
    image = Pillow.new("RGB", (20, 10), (200, 30, 90))
    image.putpixel((3, 4), (0, 255, 0))
    return image


def augmented(augmentor, image):
    augmentor.set_fields(["q"])
    return augmentor.process_instance({"input_fields": {"q": image}})["input_fields"]["q"]


def test_images_become_values(picture):
    assert ToImage(field="i").process_instance({"i": picture})["i"] == {"image": picture, "format": "JPEG"}
    picture.format = "PNG"
    for operator in (ToImage(field="i"), ImageToText(field="i")):
        assert operator.process_instance({"i": picture})["i"]["format"] == "PNG"


def test_images_are_hashed_encoded_and_decoded(picture):
    digest = HashImage(field="i").process_value(picture)
    assert len(digest) == 32
    encoded = EncodeImageToString(field="i", image_format="PNG").process_value(picture)["image"]
    assert HashImage(field="i").process_value(DecodeImage(field="i").process_value(encoded)) == digest


def test_images_become_data_urls_and_come_back(picture):
    url = image_to_data_url({"image": picture, "format": "png"})
    assert url.startswith("data:image/png;base64,")
    assert data_url_to_image(url).size == (20, 10)
    for broken in ("nothing", "data:text/plain;base64,eA==", "data:image/png;base64,eA=="):
        with pytest.raises(DataError):
            data_url_to_image(broken)


def test_images_come_as_bytes_paths_and_dicts(picture, tmp_path):
    picture.save(tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    for given in (
        content,
        str(tmp_path / "a.png"),
        {"bytes": content},
        {"path": str(tmp_path / "a.png")},
        {"image": picture},
    ):
        assert open_image(given).size == (20, 10)


@pytest.mark.parametrize("given", [b"no image", 3, {"image": b""}])
def test_what_does_not_decode_is_an_error(given):
    with pytest.raises(DataError):
        open_image(given)


def test_broken_base64_is_an_error():
    with pytest.raises(DataError):
        DecodeImage(field="i").process_instance({"i": base64.b64encode(b"x").decode()})


@pytest.mark.parametrize(
    "augmentor",
    [GrayScale(), GridLines(num_lines=2), PixelNoise(square_size=3, noise_rate=0.5), Oldify()],
    ids=lambda each: type(each).__name__,
)
def test_augmentors_change_a_copy_and_equal_images_alike(augmentor, picture):
    before = picture.tobytes()
    value = {"image": picture, "format": "PNG"}
    first, second = augmented(augmentor, value), augmented(augmentor, {"image": picture.copy(), "format": "PNG"})
    assert first["image"].tobytes() == second["image"].tobytes() != before
    assert value["image"] is picture
    assert picture.tobytes() == before
    assert first["image"].size == picture.size
    assert augmented(augmentor, "text") == "text"


def test_gray_has_no_colour(picture):
    red, green, blue = GrayScale().process_image(picture).getpixel((0, 0))
    assert red == green == blue


def test_no_noise_changes_nothing(picture):
    assert PixelNoise(noise_rate=0).process_image(picture).tobytes() == picture.tobytes()
    with pytest.raises(ValidationError):
        PixelNoise(noise_rate=2)


def test_transparency_is_dropped():
    image = Pillow.new("RGBA", (2, 2))
    assert ToRGB(field="i").process_instance({"i": {"image": image, "format": "PNG"}})["i"]["image"].mode == "RGB"
    with pytest.raises(DataError, match="needs an image"):
        ToRGB(field="i").process_instance({"i": "text"})


def test_an_image_operator_has_to_say_what_it_does(picture):
    class Idle(ImageFieldOperator):
        pass

    class IdleToo(ImageAugmentor):
        pass

    for call in (
        lambda: Idle(field="i").process_value({"image": picture}),
        lambda: IdleToo().process_value({"image": picture, "format": ""}),
    ):
        with pytest.raises(ValidationError, match="process_image"):
            call()


def test_images_in_datasets_are_decoded(hub_dir, tmp_path, monkeypatch):
    pytest.importorskip("datasets")
    from proctor.data.hub_loaders import LoadHF

    monkeypatch.setenv("PROCTOR_HUB_DIR", str(hub_dir))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    row = LoadHF(path="MathLLMs/MathVision")()["testmini"].peek()
    assert isinstance(row["decoded_image"], Pillow.Image)


def test_a_picture_becomes_a_data_url_with_and_without_its_format(picture):
    plain = image_to_data_url(picture)
    assert plain == image_to_data_url({"image": picture, "format": "JPEG"})
    assert image_to_data_url({"image": picture, "format": "PNG"}).startswith("data:image/png;base64,")
    assert data_url_to_image(plain).size == picture.size
