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
    with pytest.raises(DataError, match="not valid base64"):
        DecodeImage(field="i").process_instance({"i": "abc"})


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


def test_lines_are_drawn_at_even_distances_in_their_colour():
    drawn = GridLines(num_lines=2, line_thickness=2, line_color=(9, 8, 7)).process_image(Pillow.new("RGB", (13, 10)))
    lines = {(x, y) for x in range(13) for y in range(10) if drawn.getpixel((x, y)) == (9, 8, 7)}
    assert lines == {(x, y) for x in range(13) for y in range(10) if x in (4, 5, 8, 9) or y in (3, 4, 6, 7)}


def test_noise_is_whole_squares_and_as_many_as_its_share():
    noisy = PixelNoise(square_size=2, noise_rate=0.25).process_image(Pillow.new("RGB", (39, 39)))
    squares = {}
    for x, y in ((x, y) for x in range(39) for y in range(39)):
        squares.setdefault((x // 2, y // 2), set()).add(noisy.getpixel((x, y)))
    assert all(len(colours) == 1 for colours in squares.values())
    painted = [colours for colours in squares.values() if colours != {(0, 0, 0)}]
    assert 70 < len(painted) < 130  # of 400
    assert len(set(map(frozenset, painted))) > 60
    assert all(PixelNoise(square_size=40, noise_rate=1).process_image(noisy).getcolors()[0][1])


def test_old_pictures_are_yellow_pale_and_grainy():
    import numpy as np

    clean = np.array(
        Oldify(noise_strength=0, tint_strength=0.5).process_image(Pillow.new("RGB", (30, 30), (100, 100, 100)))
    )
    assert {tuple(pixel) for row in clean.tolist() for pixel in row} == {(206, 196, 176)}
    grainy = np.array(Oldify(tint_strength=0).process_image(Pillow.new("RGB", (90, 90), (128, 128, 128))))
    assert 4 < grainy.std() < 12  # 30 levels of grain, blurred and paler


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
