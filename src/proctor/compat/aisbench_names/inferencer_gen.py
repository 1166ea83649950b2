"""AISBench's inferencer of answers in words (``…icl_inferencer.icl_gen_inferencer``)."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Sequence
from typing import Any

from proctor.compat.aisbench_names.inferencer_api import BaseApiInferencer
from proctor.compat.aisbench_names.inferencer_base import asked_rows
from proctor.compat.aisbench_names.inferencer_local import BaseLocalInferencer
from proctor.compat.aisbench_names.prediction_handlers import GenInferencerOutputHandler

_MILLISECONDS = 1_000


class GenInferencer(BaseApiInferencer, BaseLocalInferencer):
    """Asks for answers in words.

    Args:
        model_cfg: The model's config.
        stopping_criteria: Kept: AISBench sends none of them.
        batch_size: How many are asked at once.
        mode: As of :class:`BaseApiInferencer`.
        gen_field_replace_token: What stands where the answer would.
        output_json_filepath: The folder of results.
        save_every: As of :class:`BaseApiInferencer`.
        **kwargs: As of :class:`BaseApiInferencer`.
    """

    def __init__(
        self,
        model_cfg: Any,
        stopping_criteria: Sequence[str] = (),
        batch_size: int | None = 1,
        mode: str = "infer",
        gen_field_replace_token: str = "",
        output_json_filepath: str = "./icl_inference_output",
        save_every: int = 1,
        **kwargs: Any,
    ) -> None:
        named = {"output_json_filepath": output_json_filepath, "save_every": save_every, **kwargs}
        super().__init__(model_cfg, batch_size, mode, **named)
        self.stopping_criteria = list(stopping_criteria or ())
        self.gen_field_replace_token = gen_field_replace_token or ""
        self.output_handler = GenInferencerOutputHandler(perf_mode=self.perf_mode, save_every=self.save_every)

    def _prompts(self, retriever: Any) -> list[Any]:
        return [
            retriever.generate_prompt_for_generate_task(
                place, retriever.generate_ice(chosen), gen_field_replace_token=self.gen_field_replace_token
            )
            for place, chosen in enumerate(retriever.retrieve())
        ]

    def get_data_list(self, retriever: Any) -> list[dict[str, Any]]:
        """Return what is asked: prompts as the model wants them, with limits, right answers and times."""
        prompts = [self.model.parse_template(each, mode="gen") for each in self._prompts(retriever)]
        rows = asked_rows(prompts, retriever, self.model, self.logger)
        for row, at in zip(rows, retriever.dataset_reader.get_timestamp() or (), strict=False):
            if isinstance(at, int | float):
                row["timestamp"] = at / _MILLISECONDS
        return rows

    async def do_request(self, data: dict[str, Any], token_bucket: Any, session: Any) -> None:
        """Ask one row."""
        del token_bucket  # of load tests
        data = copy.deepcopy(data)
        await self._ask(data.pop("prompt"), data, session, uuid.uuid4().hex)
        await self.status_counter.case_finish()

    def batch_inference(self, datum: dict[str, Any]) -> None:
        """Ask some rows at once."""
        places, prompts = datum.pop("index"), datum.pop("prompt")
        names, limits = datum.pop("data_abbr"), datum.pop("max_out_len")
        golds = datum.pop("gold", [None] * len(prompts))
        limit = limits if self.model.is_api else self.model.max_out_len
        answers = self.model.generate(prompts, limit, **datum)
        for place, asked, said, name, gold in zip(places, prompts, answers, names, golds, strict=False):
            self.output_handler.report_cache_info_sync(place, asked, said, name, gold)
