"""Changes that a command line or a caller may make to any exam, whichever dialect it is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from proctor.ir import Decoding
from proctor.recipes.option import DEPENDS, Option, Refused, declare, no_effect
from proctor.recipes.option_values import check_values

Truncated = Literal["score", "fail"]
"""What becomes of an answer that was cut off: it is scored as it stands, or it is a failure."""

Answers = Literal["answer", "raw"]
"""What of an answer is graded: the answer, or all that was written, thoughts and their marks included."""


PERTURBED = ("whitespace", "prefix-suffix", "case", "punctuation", "typos")
"""Small changes of a question's words, which :mod:`proctor.recipes.row_changes` makes."""

NO_TABLE = Refused("it is not a file of rows", "rows.csv, rows.jsonl or rows.parquet takes it")
_MESSAGES = "its prompts are chat messages, which the engine lays out"
_OWN_PROMPTS = Refused("a Python class makes its own prompts")
_OF_ROWS = {"unitxt lm_eval aisbench hub_yaml promptfoo tables": DEPENDS, "class": _OWN_PROMPTS}
_ORDERED = "Choices in another order, drawn for each question: 1, 2 … are different orders, 0 is the exam's own."
_PERTURBED = f"Questions with words a little otherwise, and the same right answers: {', '.join(PERTURBED)}."
_NOT_OF_CLASSES = Refused("a Python class scores all its documents at once")
_ALL = "unitxt lm_eval class aisbench hub_yaml promptfoo tables"
_ASKED, _CHOSEN, _SCORED = "How they are asked", "Which questions", "How answers are scored"


@dataclass(frozen=True, slots=True)
class ExamOptions:
    """Overrides; ``None`` (or nothing in a mapping) leaves what the exam says.

    Each field is declared once, with what command lines, run files, the reference and the tests need to know of it.
    An exam honours an option or refuses it by name; see :mod:`proctor.recipes.honours`.
    """

    num_demos: int | None = declare(
        "--num-demos",
        "--num-fewshot",
        "-f",
        help="Solved examples in each prompt.  [default: the exam's own]",
        section=_ASKED,
        takes="count",
        metavar="N",
        where={"unitxt class": "", "lm_eval tables aisbench hub_yaml promptfoo": DEPENDS},
    )
    limit: float | None = declare(
        "--limit",
        "-L",
        help="Only the first N instances of each exam, or that share of them.",
        section=_CHOSEN,
        takes="limit",
        where={
            "unitxt hub_yaml promptfoo": "",
            "lm_eval tables": "the first documents of the split that is asked about",
            "class": "the class selects its documents itself",
            "aisbench": "the first rows, before they are repeated n times",
        },
    )
    samples: Mapping[str, Sequence[int]] | None = declare(
        "--samples",
        help='Only these instances of exams: {"exam": [0, 3]}.',
        section=_CHOSEN,
        metavar="JSON|FILE",
        reads="proctor.recipes.option_values:parse_samples",
        where={
            "unitxt hub_yaml promptfoo": "",
            "lm_eval tables": "positions of documents; demos are drawn for these only",
            "class": "the class selects its documents itself",
            "aisbench": "the rows at these positions, with all their repeats",
        },
    )
    seed: int | None = declare(
        "--seed",
        help="What an exam draws (demos, orders, templates) derives from it; intervals do not.  "
        "[default: the exam's own: recipes 42, lm-eval 1234, configs their retrievers']",
        section=_CHOSEN,
        metavar="N",
        where={"unitxt class": "", "lm_eval tables aisbench hub_yaml promptfoo": DEPENDS},
    )
    code_seeds: tuple[int, int] | None = declare(
        "--code-seeds",
        help="What code of lm-eval's tasks draws from while it makes documents: the first two of its four seeds.  "
        "[default: the seed, else 0,1234]",
        section=_CHOSEN,
        metavar="PYTHON,NUMPY",
        where={
            "unitxt": no_effect("what a recipe draws comes from one seed"),
            "lm_eval tables": DEPENDS,
            "class": no_effect("a Python class draws where it likes"),
            "aisbench": no_effect("what a config draws comes from one seed"),
            "hub_yaml promptfoo": no_effect("no code comes with it"),
        },
    )
    apply_chat_template: bool | None = declare(
        "--apply-chat-template/--no-apply-chat-template",
        help="Lay prompts out as chat messages.  [default: tables yes, where a model has a chat template; others no]",
        section=_ASKED,
        takes="either",
        where={"lm_eval class tables": "", "unitxt aisbench": DEPENDS, "hub_yaml promptfoo": no_effect(_MESSAGES)},
    )
    chat_template_model: str | None = declare(
        help="Whose tokenizer's chat template is applied in text; the engine says it.",
        where={
            "lm_eval class tables": "",
            "unitxt": DEPENDS,
            "aisbench": Refused(
                "prompts of configs become chat messages, which the engine lays out itself",
                "--apply-chat-template without a model, or --meta-template for a text",
            ),
            "hub_yaml promptfoo": Refused(_MESSAGES),
        },
    )
    meta_template: Mapping[str, Any] | None = declare(
        "--meta-template",
        help="How the model wants dialogues laid out (JSON, YAML, or a config).",
        section=_ASKED,
        metavar="FILE",
        reads="proctor.dialects.aisbench.meta_templates:read_meta_template",
        where={
            "unitxt": "",
            "lm_eval class tables": "lays out messages as text",
            "aisbench": DEPENDS,
            "hub_yaml promptfoo": Refused(_MESSAGES),
        },
    )
    model_config: str | None = declare(
        help="The config of the model (FILE.py::ABBR), whose limits and stop words hold for exams of the same dialect; "
        "--model names it.",
        where={
            "unitxt": "limits and stop words of the model",
            "lm_eval class tables hub_yaml promptfoo": no_effect(
                "limits and stop words of a config hold for exams of AISBench's"
            ),
            "aisbench": "the model's meta template, limits, stop words and post-processor",
        },
    )
    demos_as_turns: bool | None = declare(
        "--demos-as-turns/--no-demos-as-turns",
        "--fewshot-as-multiturn/--no-fewshot-as-multiturn",
        help="With a chat template: each example as turns of its own.",
        section=_ASKED,
        takes="either",
        where={"unitxt lm_eval class tables aisbench": DEPENDS, "hub_yaml promptfoo": no_effect("it has no demos")},
    )
    system_prompt: str | None = declare(
        "--system-prompt",
        "--system-instruction",
        help="Opens every prompt.",
        section=_ASKED,
        metavar="TEXT",
        where={
            "unitxt hub_yaml promptfoo": "",
            "lm_eval class tables": "before description and demos",
            "aisbench": DEPENDS,
        },
    )
    template: str | None = declare(
        "--template",
        help="Which of an exam's templates to use.",
        section=_ASKED,
        metavar="NAME",
        where={
            "unitxt": "",
            "lm_eval": "one of the task's templates, or any template by its name",
            "class": _OWN_PROMPTS,
            "aisbench": Refused("a dataset of a config has one way to ask", "choose another config of the dataset"),
            "hub_yaml": Refused("its solvers are its only template"),
            "promptfoo": Refused("its prompts are its only templates", "change them in the file"),
            "tables": Refused("a table has no templates", "--prompt says how to ask"),
        },
    )
    choice_order: int | None = declare(
        "--choice-order", help=_ORDERED, section=_ASKED, takes="count", metavar="N", where=_OF_ROWS
    )
    perturb: str | None = declare("--perturb", help=_PERTURBED, section=_ASKED, takes=PERTURBED, where=_OF_ROWS)
    decoding: Mapping[str, Any] = declare(
        "--decoding",
        factory=dict,
        help='How to write: max_tokens=64,temperature=0.7,stop=["\\n"] …',
        section=_ASKED,
        takes="pairs",
        metavar="K=V,…",
        where={"unitxt class aisbench": DEPENDS, "lm_eval tables hub_yaml promptfoo": ""},
    )
    predict_only: bool = declare(
        "--predict-only",
        default=False,
        help="Ask, but score nothing.",
        section=_SCORED,
        takes="switch",
        where={
            "unitxt hub_yaml promptfoo": "",
            "lm_eval class tables": "answers are recorded, and not scored; lm-eval's files say 'bypass'",
            "aisbench": "answers are recorded, and not scored",
        },
    )
    choices_as_text: bool | None = declare(
        help="Ask multiple-choice questions as text: the model writes the label. By itself for engines that give no "
        "log-probabilities.",
        where={
            "lm_eval tables": "the model writes the label; by itself where an engine gives no log-probabilities",
            "unitxt class aisbench": DEPENDS,
            "hub_yaml promptfoo": no_effect("the model writes its choice in any case"),
        },
    )
    chat_override: bool | None = declare(
        "--chat-override",
        help="Use what exams say for chat models.",
        section=_ASKED,
        takes="switch",
        where={
            "lm_eval tables": "",
            "unitxt": Refused("a recipe says nothing of its own for chat models"),
            "class": Refused("a Python class has no chat_override"),
            "aisbench": Refused("chat_override is a key of lm-eval's tasks"),
            "hub_yaml promptfoo": Refused("it says nothing of its own for chat models"),
        },
    )
    metadata: Mapping[str, Any] = declare(
        "--metadata",
        factory=dict,
        help="More metadata, for exams whose code reads it.",
        section="Which exams",
        takes="pairs",
        metavar="K=V,…",
        where={
            "lm_eval class tables": "reaches the Python that makes the dataset",
            "unitxt": Refused("no code of a recipe reads metadata"),
            "aisbench": Refused("metadata is for the code of lm-eval's tasks"),
            "hub_yaml promptfoo": Refused("no code of it reads metadata"),
        },
    )
    resamples: int | None = declare(
        help="Bootstrap resamples behind a standard error, where a dialect has bootstrapped ones.",
        where={
            "lm_eval class": "resamples behind the standard errors of corpus metrics",
            "unitxt": Refused(
                "each of its metrics says how often it resamples",
                "n_resamples of a metric, or PROCTOR_NUM_RESAMPLES_FOR_INSTANCE_METRICS",
            ),
            "aisbench": Refused("no standard error is bootstrapped here"),
            "hub_yaml promptfoo tables": no_effect("its scores are means, whose errors have a formula"),
        },
    )
    keys: Mapping[str, Any] = declare(
        factory=dict,
        help="Keys of a task file that are replaced; mappings are merged.",
        where={
            "lm_eval class": "keys of the task file; mappings are merged",
            "unitxt": Refused("it has no task file", "write it into the recipe: NAME[field=value]"),
            "aisbench": Refused(
                "keys are those of lm-eval's task files", "write a config that reads this one as its base"
            ),
            "hub_yaml promptfoo": Refused("its keys stand in its file", "change the file"),
            "tables": Refused("a table has no task file", "--prompt and the columns say all there is to say"),
        },
    )
    group_by: tuple[str | tuple[str, ...], ...] = declare(
        "--group-by",
        default=(),
        help="Scores by the values of a field (or of several together); may be repeated.",
        section=_SCORED,
        takes="several",
        metavar="FIELD[,FIELD]",
        reads="proctor.recipes.option_values:parse_groupings",
        where={
            "unitxt hub_yaml promptfoo": "",
            "lm_eval tables": "columns of the documents",
            "class": _NOT_OF_CLASSES,
            "aisbench": "rows are scored by the values of columns, too",
        },
    )
    repeats: int | None = declare(
        "--repeats",
        help="Ask about each instance N times.",
        section=_CHOSEN,
        takes="count",
        least=1,
        metavar="N",
        where={
            "hub_yaml promptfoo": "",
            "unitxt": DEPENDS,
            "lm_eval class tables": "separate answers to each document, instead of what the task says; where no filter "
            "and no metric takes several, each is graded by itself",
            "aisbench": "n of the dataset: scores are means over so many runs",
        },
    )
    truncated: Truncated | None = declare(  # noqa: RUF009 - what declares a field
        "--truncated",
        help="Answers that were cut off: score them as they stand, or count them as failures.  [default: score]",
        section=_SCORED,
        takes=get_args(Truncated),
        where={"lm_eval class tables hub_yaml promptfoo": "for answers that were cut off", "unitxt aisbench": DEPENDS},
    )
    answers: Answers | None = declare(  # noqa: RUF009 - what declares a field
        "--answers",
        help="What is graded: the answer alone, or thoughts and their marks too, as the system does that an exam comes "
        "from.  [default: answer]",
        section=_SCORED,
        takes=get_args(Answers),
        where={"lm_eval class tables hub_yaml promptfoo": "for models that think", "unitxt aisbench": DEPENDS},
    )
    reduce: tuple[str, ...] = declare(
        "--reduce",
        default=(),
        help="What N answers come to: mean, majority, best, pass@K, pass^K, g-pass@K. The first is the main score.  "
        "[default: mean]",
        section=_SCORED,
        takes="names",
        metavar="NAME,…",
        where={_ALL: DEPENDS},
    )
    clusters: str | None = declare(
        "--clusters",
        help="Questions with the same value of a field belong together: errors and intervals are of these clusters.",
        section=_SCORED,
        metavar="FIELD",
        where={
            "unitxt hub_yaml promptfoo": "",
            "lm_eval tables": "the column that says which documents belong together, instead of what the task says",
            "class": _NOT_OF_CLASSES,
            "aisbench": "the column that says which rows belong together; copies of a row do in any case",
        },
    )
    input_column: str | None = declare(
        "--input-column",
        help="Of a table (CSV, JSONL, parquet): the column that is asked.",
        section="Which exams",
        metavar="NAME",
        where={"tables": "the column that is asked", _ALL: NO_TABLE},
    )
    answer_column: str | None = declare(
        "--answer-column",
        help="Of a table: the column that answers are compared with.",
        section="Which exams",
        metavar="NAME",
        where={"tables": "the column that answers are compared with", _ALL: NO_TABLE},
    )
    choices_column: str | None = declare(
        "--choices-column",
        help="Of a table: the column of the choices, or one for each; '' for none.",
        section="Which exams",
        metavar="NAME[,NAME]",
        where={"tables": "the column of the choices, or one column for each", _ALL: NO_TABLE},
    )
    prompt: str | tuple[str, ...] = declare(
        "--prompt",
        default=(),
        help='Of a table: how to ask, columns in braces: "Capital of {country}?"; repeatable, each is an exam.',
        section="Which exams",
        takes="several",
        metavar="TEXT",
        where={"tables": "how to ask; columns stand in braces; each makes an exam of its own", _ALL: NO_TABLE},
    )
    prompts: str | tuple[str, ...] = declare(
        "--prompts",
        default=(),
        help="Of a table: files of prompts, several in one with --- between them; each prompt is an exam.",
        section="Which exams",
        takes="several",
        metavar="FILE...",
        where={"tables": "files of prompts; each makes an exam of its own", _ALL: NO_TABLE},
    )
    metric: tuple[str, ...] = declare(
        "--metric",
        default=(),
        help="How answers are scored: exact, includes, number, contains:TEXT, regex:PATTERN, is-json, "
        "one-of, f1, similar, judge:CRITERION …, or any metric by name; repeatable, the first is the main score.  "
        "[default: the exam's own; of tables exact, but for marks around an answer]",
        section=_SCORED,
        takes="several",
        metavar="NAME[:VALUE]",
        where={"tables": "how answers are scored; the first gives the main score", "class": NO_TABLE, _ALL: DEPENDS},
    )
    judge: str | None = declare(
        "--judge",
        help="Who judges where an exam asks a judge and names none: openai/gpt-4.1, or as --model.  "
        "[default: PROCTOR_JUDGE]",
        section=_SCORED,
        metavar="MODEL",
        where={
            "tables hub_yaml promptfoo": DEPENDS,
            _ALL: Refused(
                "its judges are named where it is written",
                "PROCTOR_JUDGE is for eval.yaml, tables and promptfoo's configs",
            ),
        },
    )
    name: str | None = declare(
        "--name",
        help="Of a table: what its exam is called.  [default: the file's name]",
        section="Which exams",
        metavar="NAME",
        where={"tables": "what the exam is called", _ALL: NO_TABLE},
    )
    include_paths: tuple[str, ...] = declare(
        "--include-path",
        default=(),
        help="One more folder with exams; may be repeated.",
        section="Which exams",
        takes="folders",
        is_lookup=True,
    )
    model_arguments: Mapping[str, Any] = declare(
        factory=dict, help="The model's arguments, for exams whose code reads them among the metadata.", is_lookup=True
    )

    def __post_init__(self) -> None:
        """Check what has but a few values.

        Raises:
            UsageError: A value is none of them, the limit is below 0, or :attr:`decoding` has a value that cannot be
                meant.
        """
        check_values(self, {name: each.takes for name, each in DECLARED.items() if isinstance(each.takes, tuple)})

    def decode(self, base: Decoding) -> Decoding:
        """Return ``base`` with the overrides in :attr:`decoding`."""
        given = dict(self.decoding)
        if given.pop("do_sample", None) is False:  # greedy, as transformers and lm-eval mean it
            given["temperature"] = 0.0
        if not given:
            return base
        known = {name: getattr(base, name) for name in base.__struct_fields__}
        extra = {key: value for key, value in given.items() if key not in known}
        changed = {key: value for key, value in given.items() if key in known}
        return Decoding(**{**known, **changed, "extra": {**base.extra, **changed.get("extra", {}), **extra}})

    def places_of(self, exam: str) -> frozenset[int] | None:
        """Return the positions that :attr:`samples` names for an exam (``task@template`` also by its task)."""
        samples = self.samples or {}
        chosen = samples.get(exam, samples.get(exam.partition("@")[0]))
        return None if chosen is None else frozenset(chosen)


DECLARED: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(ExamOptions)}
"""The options by their fields' names."""

LOOKED_UP = frozenset(name for name, each in DECLARED.items() if each.is_lookup)
"""Options that say where exams are found and who sits them; whoever gives them asks for no change."""

OPTIONS = tuple(name for name in DECLARED if name not in LOOKED_UP)
"""Names of the options that change an exam."""


def given_options(options: ExamOptions) -> dict[str, Any]:
    """Return the options that change something, by name."""
    nothing = ExamOptions()
    values = {name: getattr(options, name) for name in OPTIONS}
    return {name: value for name, value in values.items() if value != getattr(nothing, name)}
