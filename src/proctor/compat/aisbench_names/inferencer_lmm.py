"""AISBench's inferencer of models that answer with texts and pictures (``…icl_inferencer.icl_lmm_gen_inferencer``)."""

from __future__ import annotations

import uuid
from typing import Any

from proctor.compat.aisbench_names.inferencer_gen import GenInferencer
from proctor.compat.aisbench_names.outputs import LMMOutput
from proctor.compat.aisbench_names.prediction_handlers import LMMGenInferencerOutputHandler


class LMMGenInferencer(GenInferencer):
    """Asks for texts and pictures; arguments as of :class:`GenInferencer`."""

    def __init__(self, model_cfg: Any, *arguments: Any, **settings: Any) -> None:
        super().__init__(model_cfg, *arguments, **settings)
        self.output_handler: Any = LMMGenInferencerOutputHandler(self.perf_mode, self.save_every)

    def inference(self, retriever: Any, output_json_filepath: str | None = None) -> Any:
        """Ask all rows, and write answers and pictures to a folder; see :meth:`BaseLocalInferencer.inference`."""
        self.output_handler.set_output_path(output_json_filepath)
        return super().inference(retriever, output_json_filepath)

    def batch_inference(self, datum: dict[str, Any]) -> None:
        """Ask some rows at once: the model writes into the answers that it is given."""
        places, prompts, names = datum.pop("index"), datum.pop("prompt"), datum.pop("data_abbr")
        golds = datum.pop("gold", [None] * len(prompts))
        answers = [LMMOutput(self.perf_mode) for _ in places]
        for answer in answers:
            answer.uuid = uuid.uuid4().hex
        self.model.generate(prompts, answers, **datum)
        for place, asked, said, name, gold in zip(places, prompts, answers, names, golds, strict=False):
            self.output_handler.report_cache_info_sync(place, asked, said, name, gold)
