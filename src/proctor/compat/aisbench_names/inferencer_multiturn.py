"""AISBench's inferencer of dialogues of several turns (``…icl_inferencer.icl_multiturn_inferencer``)."""

from __future__ import annotations

import asyncio
import copy
import uuid
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.inferencer_base import asked_rows
from proctor.compat.aisbench_names.inferencer_gen import GenInferencer
from proctor.compat.opencompass_names.prompting import get_round_index
from proctor.templates import PromptList


class MultiTurnGenInferencer(GenInferencer):
    """Asks dialogues of several turns.

    Args:
        model_cfg: The model's config.
        infer_mode: ``every`` (each turn sees what the model said before), ``every_with_gt`` (the right answers), or
            ``last`` (the last turn alone, after the right answers).
        **settings: As of :class:`GenInferencer`.
    """

    def __init__(self, model_cfg: Any, *arguments: Any, infer_mode: str = "every", **settings: Any) -> None:
        super().__init__(model_cfg, *arguments, **settings)
        self.infer_mode = infer_mode

    def get_data_list(self, retriever: Any) -> list[dict[str, Any]]:
        """Return what is asked: dialogues as their templates made them."""
        return asked_rows(self._prompts(retriever), retriever, self.model, self.logger)

    async def do_request(self, data: dict[str, Any], token_bucket: Any, session: Any) -> None:
        """Ask the turns of one row.

        Raises:
            ParameterValueError: There is no such mode.
        """
        del token_bucket  # of load tests
        modes = {"every": self.infer_every, "last": self.infer_last, "every_with_gt": self.infer_every_with_gt}
        if self.infer_mode not in modes:
            what = f"infer_mode is '{self.infer_mode}', and must be every, every_with_gt or last"
            raise failure("ParameterValueError", "ICLI_CODES", "MULTITRUN_MODE_OUT_OF_RANGE", what)
        await modes[self.infer_mode](data, session)
        await self.status_counter.case_finish()

    async def infer_last(self, data: dict[str, Any], session: Any) -> None:
        """Ask the last turn, after the right answers to the others."""
        await self._turns(data, session, keeps=False, last=True)

    async def infer_every(self, data: dict[str, Any], session: Any) -> None:
        """Ask every turn, after what the model said before; a failure ends the dialogue."""
        await self._turns(data, session, keeps=True)

    async def infer_every_with_gt(self, data: dict[str, Any], session: Any) -> None:
        """Ask every turn, after the right answers; a failure ends the dialogue."""
        await self._turns(data, session, keeps=False)

    async def _turns(self, data: dict[str, Any], session: Any, *, keeps: bool, last: bool = False) -> None:
        data = copy.deepcopy(data)
        dialogue, uid = data.pop("prompt"), uuid.uuid4().hex
        start, end = get_round_index(dialogue)
        left, chat, right = dialogue[:start], dialogue[start:end], dialogue[end:]
        limits = data.pop("max_out_len")
        places = [place for place, each in enumerate(chat) if each["role"] == "BOT"]
        for turn, place in enumerate(places[-1:] if last else places):
            asked = PromptList([*left, *chat[:place], *right])
            prompt = await asyncio.to_thread(self.model.parse_template, asked, mode="gen")
            limit = limits[-1 if last else turn] if isinstance(limits, list) else limits
            output = await self._ask(prompt, {**data, "max_out_len": limit}, session, uid, turn)
            if not output.success:
                break
            if keeps:
                chat[place]["prompt"] = output.content
