"""``lm_eval._cli``: the commands ``run``, ``ls`` and ``validate`` as argparse has them, for programs that parse.

What is typed at a terminal is read by ``proctor``'s own command line; these parsers are for programs that build upon
lm-eval's (they add a command, or parse and change arguments before they execute them).
"""

from __future__ import annotations

import argparse
import json
import sys
from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, Final, Self

from proctor.compat.lm_eval_names.command_line import (
    MergeDictAction,
    SplitArgs,
    _int_or_none_list_arg_type,
    request_caching_arg_to_dict,
)
from proctor.errors import UsageError
from proctor.secrets import without_secrets

_OMITTED: Final = argparse.SUPPRESS
"""The default of what is left to :class:`EvaluatorConfig`, where a file may say it."""


def _is_yes(text: str) -> bool:
    return text.lower() in ("true", "1", "yes")


def _seeds(text: str) -> list[int | None]:
    return _int_or_none_list_arg_type(3, 4, "0,1234,1234,1234", text)


_PAIRS: Final[dict[str, Any]] = {"default": None, "nargs": "+", "action": MergeDictAction, "metavar": "KEY=VALUE"}
_SWITCH: Final[dict[str, Any]] = {"action": "store_true", "default": _OMITTED}

_RUN: Final[dict[tuple[str, ...], dict[str, Any]]] = {
    ("--config", "-C"): {"type": str, "default": None, "help": "a file with these arguments"},
    ("--tasks", "-t"): {"default": None, "nargs": "*", "action": SplitArgs, "help": "names, patterns, files, a folder"},
    ("--model", "-M"): {"type": str, "default": _OMITTED, "help": "the kind of model"},
    ("--model_args", "-a"): {**_PAIRS, "help": "arguments of the model"},
    ("--apply_chat_template",): {"type": str, "nargs": "?", "const": True, "default": _OMITTED, "help": "ask in chats"},
    ("--limit", "-L"): {"type": float, "default": _OMITTED, "help": "most documents of a task, or a share of them"},
    ("--use_cache", "-c"): {"type": str, "default": None, "help": "a response log"},
    ("--num_fewshot", "-f"): {"type": int, "default": _OMITTED, "help": "demos in each prompt"},
    ("--batch_size", "-b"): {"type": str, "default": _OMITTED, "help": "requests at once: a number, auto, auto:N"},
    ("--max_batch_size",): {"type": int, "default": None, "help": "most requests at once of auto"},
    ("--device",): {"type": str, "default": None, "help": "cuda, cuda:0, cpu, mps"},
    ("--gen_kwargs",): {**_PAIRS, "help": "how to generate"},
    ("--output_path", "-o"): {"type": str, "default": None, "help": "where files are written"},
    ("--log_samples", "-s"): {**_SWITCH, "help": "write samples, too"},
    ("--samples", "-E"): {"type": str, "default": None, "help": "documents by task, as JSON or in a file"},
    ("--cache_requests",): {
        "type": request_caching_arg_to_dict,
        "nargs": "?",
        "const": {"cache_requests": True, "rewrite_requests_cache": False, "delete_requests_cache": False},
        "default": _OMITTED,
        "help": "no effect: requests are built faster than they are read back",
    },
    ("--check_integrity",): {**_SWITCH, "help": "no effect: validate reads every task"},
    ("--system_instruction",): {"type": str, "default": None, "help": "opens every prompt"},
    ("--fewshot_as_multiturn",): {
        "type": _is_yes,
        "nargs": "?",
        "const": True,
        "default": _OMITTED,
        "help": "demos as turns of a chat",
    },
    ("--include_path",): {"type": str, "default": None, "help": "a folder with tasks"},
    ("--verbosity", "-v"): {"type": str.upper, "default": None, "help": "no effect: PROCTOR_DEFAULT_VERBOSITY"},
    ("--write_out", "-w"): {**_SWITCH, "help": "no effect: proctor show prints requests"},
    ("--show_config",): {**_SWITCH, "help": "print the results, with the configuration of every task"},
    ("--wandb_args",): {**_PAIRS, "help": "refused: proctor export RUN --to wandb"},
    ("--wandb_config_args",): {**_PAIRS, "help": "refused: proctor export RUN --to wandb"},
    ("--trackio_args",): {**_PAIRS, "help": "refused: proctor export RUN --to trackio"},
    ("--hf_hub_log_args",): {**_PAIRS, "help": "refused but for output_path: nothing is sent to a hub"},
    ("--predict_only", "-x"): {**_SWITCH, "help": "record answers, score nothing"},
    ("--seed",): {"type": _seeds, "default": None, "help": "of Python, numpy, torch and the draw of demos"},
    ("--trust_remote_code",): {**_SWITCH, "help": "load models and data that bring code along"},
    ("--confirm_run_unsafe_code",): {**_SWITCH, "help": "no effect: programs of models run in a prison"},
    ("--metadata",): {**_PAIRS, "help": "more metadata for tasks"},
}
"""Options of ``run`` with what argparse is told of each, in lm-eval 0.4.13's order."""


class SubCommand(ABC):
    """A command below a parser; a program adds its own by deriving from it."""

    @classmethod
    def create(cls, subparsers: Any) -> Self:
        """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
        return cls(subparsers)

    @abstractmethod
    def __init__(self, subparsers: Any, **kwargs: Any) -> None:
        """Make the command's parser."""

    @abstractmethod
    def _add_args(self) -> None:
        """Add its arguments."""


class Run(SubCommand):
    """``run``: evaluates, and prints tables."""

    def __init__(self, subparsers: Any, **kwargs: Any) -> None:
        self._parser = subparsers.add_parser("run", help="evaluate a model on tasks", **kwargs)
        self._add_args()
        self._parser.set_defaults(func=self._execute)

    def _add_args(self) -> None:
        for names, more in _RUN.items():
            self._parser.add_argument(*names, **more)

    @staticmethod
    def _execute(args: argparse.Namespace) -> None:
        """Evaluate what parsed arguments say.

        Raises:
            ValueError: They contradict each other, or something cannot be honoured.
        """
        config = _named("lm_eval.config.evaluate_config", "EvaluatorConfig").from_cli(args)
        for name in ("wandb_args", "trackio_args"):
            if getattr(config, name):
                where = name.removesuffix("_args")
                raise UsageError(f"{name} cannot be honoured here", hint=f"proctor export RUN --to {where} sends a run")
        sent = {**config.hf_hub_log_args, **({"output_path": config.output_path} if config.output_path else {})}
        tracker = _named("lm_eval.loggers", "EvaluationTracker")(**sent)
        manager = config.process_tasks(config.metadata)
        python, numpy, torch, demos = config.seed if isinstance(config.seed, list) else [None] * 4
        results = _named("lm_eval", "simple_evaluate")(
            model=config.model,
            model_args=config.model_args,
            tasks=config.tasks,
            num_fewshot=config.num_fewshot,
            batch_size=config.batch_size,
            max_batch_size=config.max_batch_size,
            device=config.device,
            use_cache=config.use_cache,
            limit=config.limit,
            samples=config.samples,
            log_samples=config.log_samples,
            evaluation_tracker=tracker,
            system_instruction=config.system_instruction,
            apply_chat_template=config.apply_chat_template,
            fewshot_as_multiturn=config.fewshot_as_multiturn,
            gen_kwargs=config.gen_kwargs,
            task_manager=manager,
            predict_only=config.predict_only,
            random_seed=python,
            numpy_random_seed=numpy,
            torch_random_seed=torch,
            fewshot_random_seed=demos,
            metadata=config.metadata,
            **{name: getattr(config, name) for name in _SAID_IDLE},
            **(config.cache_requests if isinstance(config.cache_requests, dict) else {}),
        )
        found = results.pop("samples", None) if config.log_samples else None
        if config.show_config is True:
            print(json.dumps(results, indent=2, default=str, ensure_ascii=False))  # noqa: T201 - what was asked for
        tracker.save_results_aggregated(results=results, samples=found)
        for task, listed in (found or {}).items():
            tracker.save_results_samples(task_name=task, samples=listed)
        make_table = _named("lm_eval.utils", "make_table")
        print(_heading(config))  # noqa: T201 - a command prints
        print(make_table(results))  # noqa: T201
        if "groups" in results:
            print(make_table(results, "groups"))  # noqa: T201


_SAID_IDLE: Final = ("check_integrity", "write_out", "verbosity", "confirm_run_unsafe_code")
"""Fields that decide nothing here, which ``simple_evaluate`` says."""


class List(SubCommand):
    """``ls``: which tasks, groups, subtasks and tags there are."""

    def __init__(self, subparsers: Any, **kwargs: Any) -> None:
        self._parser = subparsers.add_parser("ls", help="list tasks, groups, subtasks or tags", **kwargs)
        self._add_args()
        self._parser.set_defaults(func=self._execute)

    def _add_args(self) -> None:
        kinds = ["tasks", "groups", "subtasks", "tags"]
        self._parser.add_argument("what", type=str, nargs="?", choices=kinds, help="what to list")
        self._parser.add_argument("--include_path", type=str, default=None, help="a folder with tasks")

    def _execute(self, args: argparse.Namespace) -> None:
        if args.what is None:
            self._parser.print_help()
            return
        shown = {
            "tasks": {},
            "groups": {"list_subtasks": False, "list_tags": False},
            "subtasks": {"list_groups": False, "list_tags": False},
            "tags": {"list_groups": False, "list_subtasks": False},
        }[args.what]
        manager = _named("lm_eval.tasks", "TaskManager")(include_path=args.include_path)
        print(manager.list_all_tasks(**shown))  # noqa: T201 - a command prints


class Validate(SubCommand):
    """``validate``: whether tasks exist and can be read."""

    def __init__(self, subparsers: Any, **kwargs: Any) -> None:
        self._parser = subparsers.add_parser("validate", help="check that tasks can be read", **kwargs)
        self._add_args()
        self._parser.set_defaults(func=self._execute)

    def _add_args(self) -> None:
        self._parser.add_argument("--tasks", "-t", type=str, required=True, help="names of tasks, with commas")
        self._parser.add_argument("--include_path", type=str, default=None, help="a folder with tasks")

    def _execute(self, args: argparse.Namespace) -> None:
        """Look tasks up; the program ends with 1 where one is not there."""
        manager, names = _named("lm_eval.tasks", "TaskManager")(include_path=args.include_path), args.tasks.split(",")
        print(f"Validating tasks: {names}")  # noqa: T201 - a command prints
        found = manager.match_tasks(names)
        if missing := [name for name in names if name not in found]:
            print(f"Tasks not found: {', '.join(missing)}")  # noqa: T201
            sys.exit(1)
        manager.load(found)
        print("All tasks found and valid")  # noqa: T201


class HarnessCLI:
    """The parser with the commands; ``run`` where none is named."""

    def __init__(self) -> None:
        self._parser = argparse.ArgumentParser(prog="lm-eval", description="lm-eval's command line, by Proctor.")
        self._parser.set_defaults(func=lambda _: self._parser.print_help())
        self._subparsers = self._parser.add_subparsers(dest="command", help="commands", metavar="COMMAND")
        for command in (Run, List, Validate):
            command.create(self._subparsers)

    def parse_args(self) -> argparse.Namespace:
        """Return what this program was called with; ``run`` alone prints its help."""
        words = sys.argv[1:]
        if words == ["run"]:
            self._subparsers.choices["run"].print_help()
            sys.exit(0)
        if len(words) > 1 and words[0] not in self._subparsers.choices:
            sys.argv.insert(1, "run")
        return self._parser.parse_args()

    def execute(self, args: argparse.Namespace) -> None:
        """Do what parsed arguments say."""
        args.func(args)


def _named(module: str, name: str) -> Any:
    """Return what a name of lm-eval's means now: a test or a program may have replaced it."""
    return getattr(import_module(module), name)


def _heading(config: Any) -> str:
    """Return lm-eval's line above its tables."""
    arguments = {key: value for key, value in dict(config.model_args).items() if key != "trust_remote_code"}
    return (
        f"{config.model} ({without_secrets(arguments)}), gen_kwargs: ({config.gen_kwargs}), limit: {config.limit}, "
        f"num_fewshot: {config.num_fewshot}, batch_size: {config.batch_size}"
    )
