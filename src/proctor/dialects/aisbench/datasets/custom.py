"""A user's own file as a dataset: ``--custom-dataset-path``, and datasets of a config that have a path and no type.

What a config does not say comes from the file: options are the columns ``A``, ``B`` … of its first row. A JSON file
beside it (``rows.jsonl.meta.json``) may say more, and the config has the last word.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.data.row_files import FileFormat, json_object, read_rows
from proctor.dialects.aisbench.datasets.files import find_file
from proctor.dialects.aisbench.key_tables import Keys
from proctor.dialects.aisbench.values import Reference
from proctor.errors import DataError, DatasetNotFoundError, Location, MissingFieldError, did_you_mean

_TOPS = {
    "opencompass": ("opencompass", "opencompass.datasets.custom", "opencompass.datasets.circular"),
    "aisbench": ("ais_bench.benchmark", "ais_bench.benchmark.datasets.custom", ""),
}
_CIRCULAR = "circular-mcq"
_KINDS = {
    "opencompass": [("mcq", "gen"), ("mcq", "ppl"), ("qa", "gen"), (_CIRCULAR, "gen"), (_CIRCULAR, "ppl")],
    "aisbench": [("mcq", "gen"), ("qa", "gen")],
}


def words_of(project: str) -> dict[str, list[str]]:
    """Return what ``data_type`` and ``infer_method`` of a file of rows may be."""
    kinds = _KINDS[project]
    return {
        "data_type": list(dict.fromkeys(kind for kind, _ in kinds)),
        "infer_method": list(dict.fromkeys(method for _, method in kinds)),
    }


def custom_dataset(config: Mapping[str, Any], project: str = "opencompass") -> dict[str, Any]:
    """Return the dataset config that a user's file stands for.

    Args:
        config: ``path``, and perhaps ``meta_path``, ``data_type`` (``mcq``, ``qa``, ``circular-mcq``), ``infer_method``
            (``gen``, ``ppl``), ``abbr``, ``template``, ``human_prompt``, ``bot_prompt``, ``evaluator``,
            ``evaluator_kwargs``, ``test_range``.
        project: Whose default prompts are meant.

    Raises:
        DataError: The file is not one that can be read so, or its kind and method do not go together.
        MissingFieldError: The file has no column that its prompt shows.
        DatasetNotFoundError: There is no such file.
    """
    meta = _meta(config, project)
    kind = (str(meta["data_type"]), str(meta["infer_method"]))
    if kind not in _KINDS[project]:
        raise DataError(
            f"a custom dataset of the type '{kind[0]}' cannot be asked as '{kind[1]}'",
            location=getattr(config, "location", None),
            why="known are " + ", ".join(" ".join(each) for each in _KINDS[project]),
        )
    made = made_of(meta, kind, project)
    _check_placeholders(made, meta)
    return made


def _check_placeholders(made: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    """Refuse a file that lacks a column which its prompt shows: the model would be asked with ``{question}``."""
    row, template = meta[_FIRST_ROW], made["infer_cfg"]["prompt_template"]["template"]
    shown = [name for name in dict.fromkeys(_PLACEHOLDER.findall(_text_of(template))) if name != meta["output_column"]]
    missing = [name for name in shown if name not in row]
    if not missing:
        return
    columns = ", ".join(f"'{name}'" for name in row)
    hint = did_you_mean(missing[0], map(str, row)) or "rename the columns of the file"
    if (other := _other_delimiter(row)) is not None:
        hint = f"columns are separated by commas; this file has {other}"
    raise MissingFieldError(
        f"the file '{meta['path']}' has no column {', '.join(map(repr, missing))}, which its prompt shows",
        location=Location(str(meta["path"])),
        why=f"its columns are {columns}",
        hint=f"{hint}; or say in {meta['path']}.meta.json how to ask: "
        f'{{"human_prompt": "{{{next(iter(row), "column")}}}", "output_column": "…"}}',
    )


def _other_delimiter(row: Mapping[str, Any]) -> str | None:
    """Return what seems to separate the columns of a file that was read as having one."""
    only = next(iter(row)) if len(row) == 1 else ""
    return next((words for mark, words in _DELIMITERS.items() if mark in str(only)), None)


_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_FIRST_ROW = "\0row"  # where :func:`_meta` leaves the first row; no option of a config can have this name


def _text_of(template: Any) -> str:
    """Return the words of a template: text, rounds of a dialogue, or one of either for each label."""
    if isinstance(template, Mapping):
        return "\n".join(map(_text_of, template.values()))
    if isinstance(template, Sequence) and not isinstance(template, str):
        return "\n".join(map(_text_of, template))
    return str(template)


def _meta(config: Mapping[str, Any], project: str) -> dict[str, Any]:
    place = getattr(config, "location", None)
    path = str(config.get("path", ""))
    if not path.endswith((".jsonl", ".csv")):
        raise DataError(f"the custom dataset '{path}' is neither .jsonl nor .csv", location=place)
    file = find_file(path, place)
    if file is None or not file.is_file():
        raise DatasetNotFoundError(f"there is no file '{path}'", location=place)
    row = next(read_rows(file, FileFormat(encoding="utf-8-sig")), None)
    if row is None:
        raise DataError(
            "the table has no rows",
            location=Location(str(file)),
            hint="a first line names the columns, and each further one is a question",
        )
    found = described(path, row, project)
    beside = read_meta(path, config.get("meta_path"), place) if project == "opencompass" else {}
    given = {key: value for key, value in config.items() if value is not None}
    return {**found, **beside, **given, _FIRST_ROW: row}


def described(path: str, row: Mapping[str, Any], project: str) -> dict[str, Any]:
    """Return what a file's first row says of it: options, columns, and how it is asked."""
    letters = string.ascii_uppercase
    count = next((i for i, letter in enumerate(letters) if letter not in row), len(letters))
    columns = [name for name in row if name != "answer"] if project == "opencompass" else ["question", "max_out_len"]
    return {
        "path": path,
        "input_columns": columns,
        "output_column": "answer" if "answer" in row else None,
        "options": list(letters[:count]),
        "abbr": Path(path).name.split(".")[0],
        "data_type": "mcq" if count > 1 else "qa",
        "infer_method": "gen",
    }


def read_meta(
    path: str, meta_path: str | None, place: Location | None = None, part: str = "custom dataset"
) -> Mapping[str, Any]:
    """Return what the JSON file beside a custom dataset says; nothing where there is none.

    Args:
        path: The dataset.
        meta_path: The file, where it has another name than the dataset's.
        place: Where the config is.
        part: Which keys are read: those of a ``custom dataset``, or AISBench's of a ``meta.json``.

    Raises:
        DatasetNotFoundError: The config names such a file, and it is not there.
        DataError: It is not a JSON object, or has keys that nothing reads.
    """
    file = find_file(meta_path or f"{path}.meta.json", place)
    if file is None or not file.is_file():
        if meta_path:
            raise DatasetNotFoundError(f"there is no file '{meta_path}'", location=place)
        return {}
    found = json_object(file)
    parts: dict[str, Any] = {part: found}
    if part == "meta.json":
        parts["output_config"] = found.get("output_config")
    if isinstance(inner := parts.get("output_config"), Mapping):
        parts["params of output_config"] = inner.get("params")
    named = ((name, each) for name, each in parts.items() if isinstance(each, Mapping))
    if problems := [one for name, each in named for one in Keys.of(name).problems(each, f"the {name}", "$")]:
        raise DataError([one.at(Location(str(file))) for one in problems])
    return found


def made_of(meta: Mapping[str, Any], kind: tuple[str, str], project: str) -> dict[str, Any]:
    """Return the dataset config of a file that is described.

    Args:
        meta: What is known of it (:func:`described`), and what a config says.
        kind: Its type and how it is asked.
        project: Whose default prompts are meant.
    """
    data_type, method = kind
    top, custom, _ = _TOPS[project]
    turned = data_type == _CIRCULAR
    reader = {"input_columns": meta["input_columns"], "output_column": meta["output_column"]}
    inferencer = "PPLInferencer" if method == "ppl" else "GenInferencer"
    template = meta.get("template") or _template(meta, kind, project)
    return {
        "abbr": meta["abbr"],
        "type": Reference(f"{custom}.{'CircularCustomDataset' if turned else 'CustomDataset'}"),
        **({"option_keys": meta["options"], "answer_key": meta["output_column"]} if turned else {}),
        **({"clusters": meta["clusters"]} if meta.get("clusters") else {}),
        "path": meta["path"],
        **({"meta_path": meta["meta_path"]} if project == "aisbench" and meta.get("meta_path") else {}),
        "reader_cfg": {**reader, **({"test_range": meta["test_range"]} if "test_range" in meta else {})},
        "infer_cfg": {
            "prompt_template": {
                "type": Reference(f"{top}.openicl.icl_prompt_template.PromptTemplate"),
                "template": template,
            },
            "retriever": {"type": Reference(f"{top}.openicl.icl_retriever.ZeroRetriever")},
            "inferencer": {"type": Reference(f"{top}.openicl.icl_inferencer.{inferencer}")},
        },
        "eval_cfg": {"evaluator": _evaluator(meta, kind, project), **({} if method == "ppl" else {"pred_role": "BOT"})},
    }


def _evaluator(meta: Mapping[str, Any], kind: tuple[str, str], project: str) -> dict[str, Any]:
    """Return the ``evaluator``: what the file says, else what upstream takes for its type."""
    top, custom, circular = _TOPS[project]
    data_type, method = kind
    turned = data_type == _CIRCULAR
    plain: Mapping[str, Any] = {}
    if method == "ppl" and turned:
        default = Reference(f"{circular}.CircularEvaluator")
    elif method == "ppl" or data_type == "qa":
        default = Reference(f"{top}.openicl.icl_evaluator.AccEvaluator")
    else:
        default = Reference(f"{custom}.{'Circular' if turned else ''}OptionSimAccEvaluator")
        plain = {"options": meta["options"]}
    return {"type": meta.get("evaluator", default), **meta.get("evaluator_kwargs", plain)}


def _template(meta: Mapping[str, Any], kind: tuple[str, str], project: str) -> Any:
    output, options = meta["output_column"], meta["options"]
    if kind[0] == "qa":
        human, bot = meta.get("human_prompt", "{question}"), meta.get("bot_prompt", f"{{{output}}}")
        if project == "aisbench":
            return human if output is None else f"Question: {human}\nAnswer: {bot}"
        return _round(human) if output is None else _round(human, bot)
    listed = "".join(f"\n{option}. {{{option}}}" for option in options)
    human, bot = (
        meta.get("human_prompt", "Question: {question}" + listed),
        meta.get("bot_prompt", f"Answer: {{{output}}}"),
    )
    if project == "aisbench":
        return f"{human}\n{bot}"
    if kind[1] == "ppl":
        return {option: _round(human, bot.replace(f"{{{output}}}", option)) for option in options}
    return _round(human, bot)


def _round(human: str, bot: str | None = None) -> dict[str, Sequence[Mapping[str, str]]]:
    turns = [{"role": "HUMAN", "prompt": human}]
    return {"round": turns if bot is None else [*turns, {"role": "BOT", "prompt": bot}]}
