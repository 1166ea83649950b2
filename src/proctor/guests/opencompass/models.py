"""Bases of models that code beside configs derives from: a meta template around a model's own ``generate``."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from proctor.errors import DatasetNotFoundError, UsageError
from proctor.guests.opencompass.template_parsers import APITemplateParser, LMTemplateParser
from proctor.guests.overrides import Obeyed
from proctor.logs import get_logger as own_logger
from proctor.templates import PromptList

_CACHES = ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE")


class MissingDataError(DatasetNotFoundError, FileNotFoundError):
    """Data that is not there; also a ``FileNotFoundError``."""


def get_logger(log_level: str = "INFO", filter_duplicate_level: object = None) -> logging.Logger:
    """Return Proctor's logger, which leaves out secrets; its level is that of ``settings.default_verbosity``."""
    del log_level, filter_duplicate_level
    return own_logger()


def get_data_path(dataset_id: str, local_mode: bool = False) -> str:
    """Return the path of data: an absolute path as it is, others in the folder of data or the current one.

    Args:
        dataset_id: The path, below ``COMPASS_DATA_CACHE`` or ``AIS_BENCH_DATASETS_CACHE`` where these are set.
        local_mode: Whether it has to be on this machine; otherwise a name that is not is one of the hub.

    Raises:
        MissingDataError: There is nothing at this path.
    """
    folders = [os.environ[name] for name in _CACHES if os.environ.get(name)]
    found = next((each for each in (*(Path(f, dataset_id) for f in folders), Path(dataset_id)) if each.exists()), None)
    if found is not None:
        return str(found)
    if local_mode or Path(dataset_id).is_absolute():
        hint = f"put it there, or set {' or '.join(_CACHES)} to the folder that holds it"
        raise MissingDataError(f"there is no data at '{dataset_id}'", hint=hint)
    return dataset_id


class BaseModel(Obeyed):
    """A model of one's own: override :meth:`generate`, :meth:`get_ppl` and :meth:`get_token_len`.

    Args:
        path: Name or folder of the model.
        max_seq_len: Most tokens of a prompt with its answer.
        tokenizer_only: Whether only the tokenizer is loaded.
        meta_template: Layout of dialogues.
        generation_kwargs: Settings of every generation.
        sync_rank: Whether ranks of one model wait for each other.
    """

    is_api = False
    uncalled: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            *("parse_template", "generate_from_template", "get_ppl_from_template", "get_token_len_from_template"),
            *("encode", "decode", "sync_inputs", "to", "set_synthetic", "get_prompt_logprobs", "_calc_ppl"),
            *("get_request_body", "get_ppl_request_body", "parse_text_response", "parse_stream_response"),
            *("stream_infer", "text_infer", "iter_lines", "_get_url", "_get_base_url", "_get_service_model_path"),
        ),
        "dialogues are laid out before a class is asked: generate() is called, get_ppl() and get_token_len()",
    )

    def __init__(
        self,
        path: str,
        max_seq_len: int = 2048,
        tokenizer_only: bool = False,
        meta_template: Mapping[str, Any] | None = None,
        generation_kwargs: Mapping[str, Any] | None = None,
        sync_rank: bool = False,
    ) -> None:
        self.path, self.max_seq_len, self.tokenizer_only = path, max_seq_len, tokenizer_only
        self.template_parser: Any = LMTemplateParser(meta_template)
        self.eos_token_id = (meta_template or {}).get("eos_token_id")
        self.generation_kwargs = dict(generation_kwargs or {})
        self.sync_rank = sync_rank

    def generate(self, inputs: list[Any], max_out_len: int) -> list[str]:
        """Return an answer to each prompt, of at most ``max_out_len`` tokens."""
        raise self._lacks("generate", inputs, max_out_len)

    def get_ppl(self, inputs: list[Any], mask_length: list[int] | None = None) -> Any:
        """Return the mean loss of each prompt's tokens."""
        raise self._lacks("get_ppl", inputs, mask_length)

    def get_token_len(self, prompt: str) -> int:
        """Return the number of tokens of a text."""
        raise self._lacks("get_token_len", prompt)

    def _lacks(self, step: str, *_: Any) -> UsageError:
        return UsageError(f"{type(self).__name__} has no '{step}'", hint="a class derived from BaseModel defines it")

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a dialogue, or each of a list, laid out by the meta template.

        Args:
            prompt_template: A dialogue, a text, or a list of these.
            mode: ``gen`` or ``ppl``.
        """
        return self.template_parser.parse_template(prompt_template, mode)

    def generate_from_template(self, templates: Any, max_out_len: int, **kwargs: Any) -> Any:
        """Return the answers to dialogues."""
        return self.generate(self._all(templates, "gen"), max_out_len=max_out_len, **kwargs)

    def get_ppl_from_template(self, templates: Any, mask_length: list[int] | None = None) -> Any:
        """Return the mean losses of dialogues."""
        return self.get_ppl(self._all(templates, "ppl"), mask_length)

    def get_token_len_from_template(self, templates: Any, mode: str = "ppl") -> Any:
        """Return the number of tokens of a dialogue, or of each of a list."""
        parsed = self.parse_template(templates, mode)
        if isinstance(parsed, list) and not isinstance(parsed, PromptList):
            return [self.get_token_len(str(each)) for each in parsed]
        return self.get_token_len(str(parsed))

    def _all(self, templates: Any, mode: str) -> list[Any]:
        parsed = self.parse_template(templates, mode)
        return parsed if isinstance(parsed, list) and not isinstance(parsed, PromptList) else [parsed]


class BaseAPIModel(BaseModel):
    """A model of one's own behind a service: override :meth:`generate`.

    Args:
        path: Name of the model.
        query_per_second: Most requests in a second, for the class's own use.
        retry: How often a request is sent again, for the class's own use.
        max_seq_len: Most tokens of a prompt with its answer.
        meta_template: Layout of dialogues.
        generation_kwargs: Settings of every generation.
    """

    is_api = True

    def __init__(
        self,
        path: str,
        query_per_second: float = 1,
        retry: int = 2,
        max_seq_len: int = 2048,
        meta_template: Any = None,
        generation_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(path, max_seq_len, generation_kwargs=generation_kwargs)
        self.template_parser = APITemplateParser(meta_template)
        self.meta_template = meta_template
        self.query_per_second, self.retry = query_per_second, retry
        self.logger = get_logger()

    def get_token_len(self, prompt: str) -> int:
        """Return the number of words of a text, each Chinese character being one."""
        chinese = sum("\u4e00" <= each <= "\u9fff" for each in prompt)
        others = "".join(" " if "\u4e00" <= each <= "\u9fff" else each for each in prompt)
        return chinese + len(others.split())
