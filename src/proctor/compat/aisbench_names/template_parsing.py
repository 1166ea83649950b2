"""AISBench's parser of prompts for servers, with the steps that programs derive from."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.opencompass_names import prompting
from proctor.errors import TemplateError

_Roles = dict[str, dict[str, Any]]


class APITemplateParser(prompting.APITemplateParser):
    """Makes messages of dialogues: dicts with ``role`` and ``prompt``.

    Args:
        meta_template: How a model wants dialogues laid out.

    Attributes:
        roles: The roles of the meta template by name; a copy of what it says.

    Raises:
        AISBenchTypeError: It is no meta template.
    """

    def __init__(self, meta_template: Any = None) -> None:
        try:
            super().__init__(meta_template)
        except TemplateError as error:
            code = "INVALID_TYPE_OF_PARAM_IN_META_TEMPLATE"
            raise failure("AISBenchTypeError", "MODEL_CODES", code, str(error)) from error
        self._roles = super().roles

    @property
    def roles(self) -> _Roles:
        """The roles by name; what a program changes in them is changed for the steps below."""
        return self._roles

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a dialogue as messages; a list or tuple of prompts one by one.

        Raises:
            AISBenchTypeError: It is no prompt, or there is no such mode.
        """
        if not isinstance(prompt_template, (str, list, tuple)):
            what = f"a prompt is a text, a list of texts or a PromptList, not a {type(prompt_template).__name__}"
            raise failure("AISBenchTypeError", "MODEL_CODES", "PARSE_TEMPLATE_INVALID_TYPE", what)
        if mode not in prompting.MODES:
            what = f"there is no mode {mode!r}: choose 'gen' or 'ppl'"
            raise failure("AISBenchTypeError", "MODEL_CODES", "PARSE_TEMPLATE_INVALID_MODE", what)
        return super().parse_template(prompt_template, mode)

    def _update_role_dict(self, prompts: Any) -> _Roles:
        """Return the roles with what messages say in place of what the meta template says.

        Raises:
            AISBenchKeyError: A message has a role that is not there, and no other.
        """
        found = copy.deepcopy(self.roles)
        for each in [prompts] if isinstance(prompts, Mapping) else prompts:
            if isinstance(each, Mapping):
                found[self._known_role(each, found)].update(each)
        return found

    @staticmethod
    def _known_role(message: Mapping[str, Any], known: Mapping[str, Any]) -> str:
        for key in ("role", "fallback_role"):
            if (role := message.get(key)) in known:
                return str(role)
        what = f"{dict(message)!r} has a role that the meta template lacks, and no 'fallback_role' that it has"
        raise failure("AISBenchKeyError", "MODEL_CODES", "INVALID_ROLE_IN_PROMPT_TEMPLATE", what)

    def _split_rounds(self, prompt_template: Sequence[Any], single_round_template: Sequence[Any]) -> list[int]:
        """Return where the rounds of messages begin, and where the last ends.

        Raises:
            AISBenchKeyError: A message has a role that a round lacks, and no other.
        """
        order = {each["role"]: place for place, each in enumerate(single_round_template) if not isinstance(each, str)}
        cuts, last = [0], -1
        for place, message in enumerate(prompt_template):
            if isinstance(message, str):
                continue
            here = order[self._known_role(message, order)]
            if here <= last:
                cuts.append(place)
            last = here
        return [*cuts, len(prompt_template)]

    def _prompt2api(self, prompts: Any, role_dict: _Roles, for_gen: bool = False) -> tuple[Any, bool]:
        """Return messages as a server wants them, and whether more may follow.

        Raises:
            AISBenchTypeError: There is a text without a role among them.
        """
        if isinstance(prompts, str):
            return prompts, True
        if isinstance(prompts, Mapping):
            return self._role2api_role(prompts, role_dict, for_gen)
        found = []
        for each in prompts:
            if isinstance(each, str):
                what = f"the text {each[:80]!r} has no role, and servers take messages with roles only"
                raise failure("AISBenchTypeError", "MODEL_CODES", "MIX_STR_WITHOUT_EXPLICIT_ROLE", what)
            message, goes_on = self._role2api_role(each, role_dict, for_gen)
            found += [message] if message else []
            if not goes_on:
                return found, False
        return found, True

    def _role2api_role(
        self, role_prompt: Mapping[str, Any], role_dict: _Roles, for_gen: bool = False
    ) -> tuple[dict[str, Any] | None, bool]:
        """Return a message as a server wants it, ``None`` where the model is to write it; and whether more may follow.

        Raises:
            AISBenchValueError: The role says nothing.
        """
        role = role_dict[self._known_role(role_prompt, role_dict)]
        if for_gen and role.get("generate"):
            return None, False
        if "prompt" in role:
            return {"role": role["api_role"], "prompt": _framed(role)}, True
        if "prompt_mm" in role:
            return {"role": role["api_role"], "prompt": role["prompt_mm"]}, True
        what = f"the role {role_prompt['role']!r} says nothing: it has neither 'prompt' nor 'prompt_mm'"
        raise failure("AISBenchValueError", "MODEL_CODES", "INVALID_PROMPT_CONTENT", what)


def _framed(role: Mapping[str, Any]) -> Any:
    """Return what a role says between what the meta template puts around it; parts of media stay a list."""
    said = role["prompt"]
    return said if isinstance(said, list) else f"{role.get('begin', '')}{said}{role.get('end', '')}"
