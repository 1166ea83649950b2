"""What AISBench's datasets share (``ais_bench.benchmark.datasets.utils.datasets``): paths, samples, marks of answers.

Programs and tests replace names of this module, so that it is given whole. Scores are those that exams get: the
official script of VQA, edit distances, and numbers that may be a little off.
"""

from __future__ import annotations

import base64
import binascii
import copy
import io
import os
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.logger import AISLogger
from proctor.errors import DataError
from proctor.foreign_text import parse_json
from proctor.safe_files import opened
from proctor.scoring.evaluators.pictures import vqa_words
from proctor.scoring.postprocessors.general import read_literal
from proctor.scoring.text_distance import levenshtein
from proctor.templates.multimodal import (
    AIS_AUDIO_START,
    AIS_CONTENT_TAG,
    AIS_IMAGE_START,
    AIS_TEXT_START,
    AIS_VIDEO_START,
)

logger = AISLogger()

_DATASETS = "ais_bench.benchmark.datasets."
ONLY_PERF_DATASETS = [_DATASETS + name for name in ("MTBenchDataset", "ShareGPTDataset", "SyntheticDataset")]
"""Datasets that only load tests use upstream."""
MM_DATASETS = [_DATASETS + name for name in ("TEXTVQADataset", "VideoBenchDataset", "VocalSoundDataset")]
"""Datasets with pictures, films or sounds."""
MM_APIS = [
    "ais_bench.benchmark.models.VLLMCustomAPIChat",
    "ais_bench.benchmark.models.VLLMCustomAPIChatStream",
    "ais_bench.benchmark.models.api_models.vita_generate_api.VITAGenerateAPI",
]
"""Models that take them."""

_RELATIVE_CHANGE = 0.05  # ChartQA (Masry et al. 2022): numbers are read off a chart
_ENOUGH_PEOPLE = 3  # who must have given an answer for it to be right (Antol et al. 2015)


def get_cache_dir(default_dir: str) -> str:
    """Return where datasets are: ``AIS_BENCH_DATASETS_CACHE``, or a folder."""
    return os.environ.get("AIS_BENCH_DATASETS_CACHE", default_dir)


def get_data_path(dataset_path: str, local_mode: bool = True) -> str:
    """Return where a dataset is: an absolute path as it is, others below the folder of datasets.

    Args:
        dataset_path: The path.
        local_mode: Whether it may be relative.

    Raises:
        FileExistsError: There is nothing (upstream's choice of a class).
        TypeError: It is relative, and may not be.
    """
    if dataset_path.startswith("/"):
        return dataset_path
    if not local_mode:
        raise TypeError(f"the path of a dataset of your own must be absolute, and '{dataset_path}' is not")
    found = os.path.join(get_cache_dir(os.curdir), dataset_path)  # noqa: PTH118 - texts, as upstream
    if not os.path.exists(found):  # noqa: PTH110 - programs replace it
        raise FileExistsError(f"there is no dataset at '{found}': set AIS_BENCH_DATASETS_CACHE, or give a whole path")
    return found


def get_sample_data(data_list: list[Any], sample_mode: str = "default", request_count: int = 0) -> list[Any]:
    """Return some rows of a list, copied; more than there are by going round.

    Args:
        data_list: The rows.
        sample_mode: ``default`` (the first), ``random`` (any, in any order) or ``shuffle`` (the first, shuffled).
        request_count: How many; 0 for all.

    Raises:
        ValueError: There is no such mode, or the count is negative.
    """
    if request_count < 0:
        raise ValueError(f"request_count is {request_count}, and must not be negative")
    count = request_count or len(data_list)
    rounds = -(-count // len(data_list)) if data_list else 0
    rows = [copy.deepcopy(row) for _ in range(max(rounds, 1)) for row in data_list]
    if sample_mode == "default":
        return rows[:count]
    if sample_mode == "random":
        return random.sample(rows[:count] if count > len(data_list) else rows, count)
    if sample_mode == "shuffle":
        chosen = rows[:count]
        random.shuffle(chosen)
        return chosen
    raise ValueError(f"there is no sample_mode '{sample_mode}'; there are 'default', 'random' and 'shuffle'")


def get_meta_json(dataset_path: str, meta_path: str | None) -> dict[str, Any]:
    """Return what the JSON file beside a dataset says; nothing where there is none.

    Raises:
        ValueError: A file was named, and it is not there.
    """
    path = meta_path or f"{dataset_path}.meta.json"
    if os.path.exists(path):  # noqa: PTH110 - programs replace it
        with opened(path) as file:
            found: dict[str, Any] = parse_json(file.read().decode("utf-8"))
            return found
    if meta_path:
        raise ValueError(f"there is no file '{meta_path}', which meta_path names")
    return {}


def toliststr(s: Any) -> list[str]:
    """Return texts of a list, of the literal of a list, or of one text.

    Raises:
        NotImplementedError: It is neither text nor list.
    """
    if isinstance(s, str):
        found = read_literal(s) if s.startswith("[") and s.endswith("]") else s
        return [str(each) for each in found] if isinstance(found, list) else [s]
    if isinstance(s, list):
        return [str(each) for each in s]
    raise NotImplementedError(f"a {type(s).__name__} is neither a text nor a list")


def decode_base64_to_image(base64_string: str, target_size: int = -1) -> Any:
    """Return a picture of its base64; one with a palette or transparency becomes RGB.

    Args:
        base64_string: The picture.
        target_size: Longest side, in pixels; -1 leaves it.

    Raises:
        DataError: It is not base64.
    """
    from PIL import Image

    try:
        data = base64.b64decode(base64_string)
    except (binascii.Error, ValueError) as error:
        raise DataError("the picture is not base64", why=str(error)) from error
    picture: Any = Image.open(io.BytesIO(data))
    if picture.mode in ("RGBA", "P", "LA"):
        picture = picture.convert("RGB")
    if target_size > 0:
        picture.thumbnail((target_size, target_size))
    return picture


def decode_base64_to_image_file(base64_string: str, image_path: str, target_size: int = -1) -> None:
    """Write a picture to a file; its folder is made."""
    picture = decode_base64_to_image(base64_string, target_size=target_size)
    Path(image_path).parent.mkdir(parents=True, exist_ok=True)
    picture.save(image_path)


# -- marks -----------------------------------------------------------------------------------------------------------

_PUNCTUATION = """;/[]"{}()=+\\_-><@`,?!"""
_COMMA_OF_NUMBER = re.compile(r"\d,\d")
_LONELY_PERIOD = re.compile(r"(?<!\d)\.(?!\d)")
_MOST_PERIODS = int(re.UNICODE)
"""The official script passes a flag where the number of replacements belongs; so at most 32 dots go."""


def process_punctuation(inText: str) -> str:  # noqa: N803 - upstream's name
    """Return a text without punctuation, as the official script of VQA removes it."""
    found, has_comma = inText, _COMMA_OF_NUMBER.search(inText) is not None
    for mark in _PUNCTUATION:
        goes = mark + " " in inText or " " + mark in inText or has_comma
        found = found.replace(mark, "" if goes else " ")
    return _LONELY_PERIOD.sub("", found, _MOST_PERIODS)


def process_answer(answer: str) -> str:
    """Return an answer as the official script of VQA compares it: words without articles, numbers as digits."""
    return vqa_words(process_punctuation(answer.replace("\n", " ").replace("\t", " ").strip()))


def levenshtein_distance(s1: Sequence[Any], s2: Sequence[Any]) -> int:
    """Return the fewest insertions, deletions and replacements between two texts."""
    return levenshtein(s1, s2)


def relaxed_correctness(target: Any, prediction: Any, max_relative_change: float = _RELATIVE_CHANGE) -> bool:
    """Whether a number is near enough to the right one; other answers must be equal but for case.

    Args:
        target: The right answer; a percentage counts as its hundredth.
        prediction: What was said.
        max_relative_change: How far off a number may be, relative to the right one.
    """
    said, gold = _number(str(prediction)), _number(str(target))
    if said is not None and gold:
        return abs(said - gold) / abs(gold) <= max_relative_change
    return str(prediction).lower() == str(target).lower()


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


def anls_compute(groundtruth: str, prediction: str) -> float:
    """Return the edit distance between two answers as a share of the longer one, between 0 (equal) and 1."""
    gold, said = (" ".join(text.strip().lower().split()) for text in (groundtruth, prediction))
    length = max(len(groundtruth.upper()), len(prediction.upper()))
    return levenshtein(gold, said) / length if length else 0.0


def process_line(pred: str, refer: Any, method: str = "vqa_score") -> list[Any]:
    """Return the mark of an answer against each reference.

    Args:
        pred: The answer.
        refer: The reference, or a list of them.
        method: ``vqa_score`` (agreement with the other people), ``anls``, ``relaxed_accuracy``, ``accuracy``; any other
            name compares texts.
    """
    golds = refer if isinstance(refer, list) else [refer]
    if method == "vqa_score":
        said, people = process_answer(pred), [process_answer(each) for each in golds]
        alike = sum(each == said for each in people)
        return [min(1, (alike - (each == said)) / _ENOUGH_PEOPLE) for each in people]
    said = pred.strip()
    if method == "anls":
        return [anls_compute(each, said) for each in golds]
    if method == "relaxed_accuracy":
        return [relaxed_correctness(each, said) for each in golds]
    if method == "accuracy":
        return [float(each.strip().lower() == said.lower()) for each in golds]
    return [each == said for each in golds]


_STARTS = {
    "text": (AIS_TEXT_START, "text"),
    "image_url": (AIS_IMAGE_START, "image_url"),
    "video_url": (AIS_VIDEO_START, "text"),
    "audio_url": (AIS_AUDIO_START, "text"),
}
"""By the type of a part: the tag before it, and the field that has it (films and sounds have ``text``, as upstream)."""


def get_content_str(msgs: Sequence[Mapping[str, Any]]) -> str:
    """Return parts of a message as one text with tags; a part of another type leaves its closing tag alone."""
    parts = ((_STARTS.get(each["type"]), each) for each in msgs)
    return "".join((start[0] + each[start[1]] if start else "") + AIS_CONTENT_TAG for start, each in parts)
