"""lm-evaluation-harness task files: read, run, written and converted."""

from __future__ import annotations

from proctor.dialects.dialect import Conversion, Dialect, names_file


def _may_be_a_task(name: str) -> bool:
    return "=" not in name and not names_file(name, ".py", ".json", ".jsonl", ".csv")


DIALECT = Dialect(
    "lm_eval",
    recognises=_may_be_a_task,
    claims=lambda name: "[" in name and "=" not in name,  # brackets of a task's own name, not arguments in brackets
    resolve="proctor.dialects.lm_eval.resolve:resolve_name",
    list="proctor.dialects.lm_eval.index:list_tasks",
    validate="proctor.dialects.lm_eval.validate:validate",
    convert=Conversion(
        "lm-eval",
        read="proctor.dialects.lm_eval.convert:graded",
        write="proctor.dialects.lm_eval.convert:to_lm_eval",
        rewrite="proctor.dialects.lm_eval.rewrite:rewritten",
        rewritten={"proctor": ".yaml", "card": ".json"},
    ),
    knows="proctor.dialects.lm_eval.index:knows",
    words="proctor.dialects.lm_eval.flags:flag",
)
