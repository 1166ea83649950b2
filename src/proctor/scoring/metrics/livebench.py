"""LiveBench (White et al. 2024): its authors' own functions score, from a clone of their repository."""

# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any, ClassVar, Final
from warnings import catch_warnings

from proctor.errors import Diagnostic, MissingExtraError, ScoringError, TrustError
from proctor.packages import package_folder
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.scores import Unit
from proctor.settings import settings

_CLONE: Final = "git clone https://github.com/LiveBench/LiveBench, and put the folder on PYTHONPATH"
_TRUST: Final = "--trust-code (settings.trust_code, PROCTOR_TRUST_CODE=1) lets it run"
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_HOMES: Final = {
    "data_analysis": ("consecutive_events", "cta", "tablejoin", "tablereformat"),
    "math": ("amps_hard", "integrals_with_game", "math_competitions", "olympiad"),
    "reasoning": (
        *("house_traversal", "logic_with_navigation", "spatial", "sudoku", "theory_of_mind"),
        *("web_of_lies_v2", "web_of_lies_v3", "zebra_puzzle"),
    ),
    "writing": ("connections", "plot_unscrambling", "typos"),
}
"""Where its rules lie below ``livebench.process_results``."""
_MODULES: Final = {
    rule: f"livebench.process_results.{home}.{'AMPS_Hard' if rule == 'amps_hard' else rule}.utils"
    for home, rules in _HOMES.items()
    for rule in rules
} | {"instruction_following": "livebench.process_results.instruction_following.utils"}
_FUNCTIONS: Final = {
    "olympiad": "proof_rearrangement_process_results",
    "tablejoin": "joinmap_process_results",
    "tablereformat": "table_process_results",
    "web_of_lies_v2": "web_of_lies_process_results",
    "zebra_puzzle": "get_zebra_puzzle_evaluator",
    "connections": "get_connections_puzzle_evaluator",
    "instruction_following": "ifbench_process_results",
}
"""Functions that are not called by their rule."""
_FIRST_IFBENCH: Final = "2025-11-25"
_SECOND_TABLES: Final = "2025-04-25"


class LiveBench(InstanceMetric):
    """The score of a LiveBench question, 0 to 1, by the rule of its task; programs are not run.

    Task data holds what its datasets have: ``task``, ``subtask``, ``category``, ``turns``, ``ground_truth``,
    ``livebench_release_date`` and, of instructions, ``instruction_id_list`` and ``kwargs``. A rule that fails is a
    failure of the instance; its authors count 0. Source: ``livebench/gen_ground_truth_judgment.py``.
    """

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "livebench"
    prediction_type: object = str
    reduction_map: dict[str, Any] = {"mean": ["livebench"]}
    ci_scores: list[str] | None = ["livebench"]

    @property
    def code_modules(self) -> tuple[str, ...]:
        """Modules whose code scores, which are part of what a score was measured with; none where none may run."""
        return tuple(_MODULES.values()) if settings.trust_code else ()

    def check(self) -> Iterator[Diagnostic]:
        """Yield that the authors' code is not here, or may not run."""
        if package_folder("livebench") is None:
            yield Diagnostic("LiveBench's questions are scored by its authors' code, which is not here", hint=_CLONE)
        elif not settings.trust_code:
            yield Diagnostic("LiveBench's questions are scored by its authors' code", hint=_TRUST)

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance.

        Raises:
            TrustError: Nobody said that the authors' code may run.
            ScoringError: The question is of a task without a rule here.
        """
        if not settings.trust_code:
            raise TrustError("LiveBench's questions are scored by its authors' code", hint=_TRUST)
        with redirect_stdout(StringIO()), catch_warnings(action="ignore"):  # some rules print, and warn
            return {"livebench": float(_score(task_data, _THOUGHTS.sub("", prediction)))}


def _score(question: Mapping[str, Any], answer: str) -> Any:
    date, truth = str(question.get("livebench_release_date"))[:10], question.get("ground_truth")
    rule = rule_of(question)
    if rule == "instruction_following" and date < _FIRST_IFBENCH:
        raise ScoringError("LiveBench asked for these instructions in a form of before 2025-11-25")
    is_contest = rule == "math_competitions" and "aime" not in _name_of(question)
    name = "mathcontest_process_results" if is_contest else "aime_process_results"
    function = _function(rule, name if rule == "math_competitions" else "")
    if is_contest:
        return function(truth, answer, question["turns"][0])
    match rule:
        case "instruction_following":
            found = function(question, answer)
        case "zebra_puzzle" | "connections":
            found = function(date)(truth, answer)
        case "tablejoin":
            found = function(question["turns"][0], truth, answer)
        case "tablereformat":
            found = function(question["turns"][0], truth, answer, "v2" if date >= _SECOND_TABLES else "v1")
        case "olympiad":
            found = function(truth, answer, edit_distance=True)
        case _:
            found = function(truth, answer)
    return found


def rule_of(question: Mapping[str, Any]) -> str:
    """Return the rule that scores a question, by its task or subtask.

    Raises:
        ScoringError: There is none here.
    """
    if question.get("category") == "instruction_following":
        return "instruction_following"
    name = _name_of(question)
    parts = name.split("_")
    if parts[0] in ("amc", "smc", "aime") or parts[1:2] == ["amc"]:
        return "math_competitions"
    if parts[0] in ("imo", "usamo"):
        return "olympiad"
    for rule in ("amps_hard", "zebra_puzzle"):
        if rule in name or rule in str(question.get("task")):
            return rule
    if name in _MODULES:
        return name
    raise ScoringError(f"LiveBench's task '{name}' has no rule here", why="programs and agents are not run by it")


def _name_of(question: Mapping[str, Any]) -> str:
    return str(question.get("subtask") or question.get("task"))


def _function(rule: str, name: str = "") -> Callable[..., Any]:
    try:
        module = import_module(_MODULES[rule])
    except ImportError as error:
        if package_folder("livebench") is None:
            raise ScoringError("LiveBench's own code is not here", hint=_CLONE) from error
        raise MissingExtraError(f"LiveBench's rule '{rule}' lacks a package", why=str(error)) from error
    found: Callable[..., Any] = getattr(module, name or _FUNCTIONS.get(rule, f"{rule}_process_results"))
    return found
