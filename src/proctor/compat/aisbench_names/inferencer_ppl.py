"""AISBench's inferencer of labels by their losses (``…icl_inferencer.ppl_inferencer``)."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.inferencer_api import BaseApiInferencer
from proctor.compat.aisbench_names.outputs import PPLRequestOutput, PPLResponseOutput
from proctor.compat.aisbench_names.prediction_handlers import PPLInferencerOutputHandler


class PPLInferencer(BaseApiInferencer):
    """Measures the loss of every label's prompt; the label with the least is the answer, the first of equals.

    Args:
        model_cfg: The model's config.
        batch_size: As of :class:`BaseApiInferencer`.
        mode: As of :class:`BaseApiInferencer`, but not performance.
        output_json_filepath: The folder of results.
        output_json_filename: Kept for programs: files are called as datasets are.
        labels: The labels; those of the retriever where they are not said.
        save_every: As of :class:`BaseApiInferencer`.
        **kwargs: As of :class:`BaseApiInferencer`.

    Raises:
        AISBenchValueError: Performance is to be measured, or answers are to come in pieces.
    """

    def __init__(
        self,
        model_cfg: Any,
        batch_size: int | None = 1,
        mode: str = "infer",
        output_json_filepath: str = "./icl_inference_output",
        output_json_filename: str = "predictions",
        labels: Sequence[Any] | None = None,
        save_every: int = 1,
        **kwargs: Any,
    ) -> None:
        del output_json_filename
        named = {"output_json_filepath": output_json_filepath, "save_every": save_every, **kwargs}
        super().__init__(model_cfg, batch_size, mode, **named)
        if self.perf_mode:
            raise _wrong("PERF_MODE_NOT_SUPPORTED_FOR_PPL_INFERENCE", "losses are not measured in performance mode")
        if model_cfg.get("stream"):
            raise _wrong("STREAM_MODE_NOT_SUPPORTED_FOR_PPL_INFERENCE", "losses do not come in pieces: stream=False")
        self.labels = labels
        self.output_handler: Any = PPLInferencerOutputHandler(self.perf_mode, self.save_every)

    def get_data_list(self, retriever: Any) -> list[dict[str, Any]]:
        """Return what is asked: of each row the prompts of all labels, with limit and right answer."""
        labels = retriever.get_labels() if self.labels is None else self.labels
        golds = retriever.get_gold_ans()
        limits = retriever.dataset_reader.get_max_out_len()
        rows = []
        for place, chosen in enumerate(retriever.retrieve()):
            examples = retriever.generate_ice(chosen)
            prompts = {label: retriever.generate_label_prompt(idx=place, ice=examples, label=label) for label in labels}
            asked = {label: self._asked(prompt) for label, prompt in prompts.items()}
            limit = self.model.max_out_len if limits is None else limits[place]
            rows.append({"index": place, "qa": asked, "gold": golds[place], "max_out_len": limit})
        return [{**row, "data_abbr": retriever.dataset.abbr} for row in rows]

    def _asked(self, prompt: Any) -> dict[str, Any]:
        return {"prompt": self.model.parse_template(prompt, mode="ppl")}

    def _calc_prediction(self, ppl_list: Sequence[Mapping[str, Any]]) -> Any:
        """Return the label with the least loss, the first of equals; ``None`` where there is none."""
        return min(ppl_list, key=lambda each: each["ppl"])["label"] if ppl_list else None

    async def do_request(self, data: dict[str, Any], token_bucket: Any, session: Any) -> None:
        """Ask one row: one request for each label; the first that fails ends it."""
        del token_bucket  # of load tests
        data = copy.deepcopy(data)
        place, asked, gold = data.pop("index"), data.pop("qa"), data.pop("gold")
        limit, data_abbr = data.pop("max_out_len"), data.pop("data_abbr")
        answer = PPLResponseOutput(self.perf_mode)
        answer.uuid, answer.success = uuid.uuid4().hex[:8], True
        losses: list[dict[str, Any]] = []
        for label, each in asked.items():
            output = PPLRequestOutput(self.perf_mode)
            output.uuid = answer.uuid
            await self.status_counter.post()
            await self.model.get_ppl(each["prompt"], limit, output, session=session, **data)
            await self.status_counter.finish()
            await (self.status_counter.rev() if output.success else self.status_counter.failed())
            answer.input.append(output.input)
            if not output.success:
                answer.success, answer.error_info = False, output.error_info
                break
            losses.append({"label": label, "ppl": output.ppl})
            answer.origin_prompt_logprobs.append(output.origin_prompt_logprobs)
        answer.content = self._calc_prediction(losses) if answer.success else None
        answer.label_ppl_list = losses
        await self.status_counter.case_finish()
        await self.output_handler.report_cache_info(place, answer.input, answer, data_abbr, gold)


def _wrong(code: str, what: str) -> Exception:
    return failure("AISBenchValueError", "ICLI_CODES", code, what)
