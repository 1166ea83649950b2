"""The words in which judges ask: Unitxt's, read from its package, or our own; and what a judge's prompt is made of.

Unitxt has the words of its judges by criteria in source files. They are read as data: templates are the constants
there, lines about options are expressions that safe Python computes; nothing is imported, nothing runs.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal, get_args

from proctor.artifacts import Artifact, fetch_artifact
from proctor.artifacts.catalogs import JUDGING, OWN, builtin_catalog
from proctor.artifacts.effects_of import parts_of
from proctor.errors import DataError, TrustError
from proctor.foreign_text import read_source_text
from proctor.logs import get_logger
from proctor.packages import package_folder
from proctor.safe_python import compile_expression
from proctor.scoring.judges.criteria import Criteria
from proctor.scoring.judges.judge_client import who_judges
from proctor.templates import InputOutputTemplate, Template

Kind = Literal["direct", "pairwise"]
Stage = Literal["assessment", "summarization", "answer"]
Whose = Literal["unitxt", "proctor"]

_BYTES: Final = 6  # of a prompt's digest, as of the layers of fingerprints


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a judge by criteria.

    Attributes:
        whose: ``proctor``, or ``unitxt`` with its version.
        templates: The template of each stage.
        told: Returns what the judge is told of its options: of those of criteria, or of two names of systems.
        answer: What stands before the name of a system where the judge names its answer.
    """

    whose: str
    templates: Mapping[str, Template]
    told: Callable[[Sequence[Any]], str]
    answer: str


@lru_cache(maxsize=8)
def _worded(kind: Kind, folder: str | None) -> Wording:
    found = None if folder is None else _published(kind, Path(folder))
    if found is not None:
        return found
    place = f"{OWN}templates.llm_as_judge.{kind}."
    templates: dict[str, Any] = {stage: fetch_artifact(f"{place}{stage}") for stage in get_args(Stage)}
    return Wording("proctor", templates, _options if kind == "direct" else _systems, "Answer")


def wording(kind: Kind, whose: Whose) -> Wording:
    """Return the words of a kind of judge: Unitxt's where they are wanted and its package is here, else our own."""
    folder = package_folder("unitxt") if whose == "unitxt" else None
    return _worded(kind, folder and str(folder))


def _options(options: Sequence[Any]) -> str:
    lines = [f'- "{each.name}"' + (f" if {each.description}" if each.description else "") for each in options]
    return "\n".join(["Options:", *lines])


def _systems(names: Sequence[Any]) -> str:
    return " or ".join(f'"Answer {name}"' for name in names)


# -- Unitxt's -------------------------------------------------------------------------------------------------


def _published(kind: Kind, folder: Path) -> Wording | None:
    """Return the words in Unitxt's source files; ``None`` where a release has them in another form."""
    try:
        constants = _assigned(folder / "llm_as_judge_chat_templates.py")
        templates = {stage: _template(call) for stage, call in _items(constants[f"{kind}_template_dict"])}
        lines = _assigned(folder / "llm_as_judge.py")
        if kind == "direct":
            line = compile_expression(_over_rows(lines["display_options_instruction"]))
            return Wording(_release(folder), templates, lambda options: line(_as_criteria(options)), "Response")
        pairs = compile_expression(_over_rows(lines["score_option_instruction_list"]))
        return Wording(_release(folder), templates, lambda two: pairs({"option_pairs_list": [[two]]})[0], "Response")
    except (OSError, SyntaxError, UnicodeDecodeError, KeyError, ValueError, TypeError, DataError, TrustError) as error:
        get_logger().warning("the words of Unitxt's judges cannot be read in %s: %s", folder, error)
        return None


def _release(folder: Path) -> str:
    return f"unitxt {ast.literal_eval(_assigned(folder / 'version.py')['version'])}"


def _assigned(path: Path) -> dict[str, ast.expr]:
    """Return what a source file assigns to plain names, by name."""
    tree = ast.parse(read_source_text(path))
    return {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _items(node: ast.expr) -> Iterator[tuple[str, ast.Call]]:
    if not isinstance(node, ast.Dict):
        raise TypeError("the templates are not a dict")
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(value, ast.Call):
            raise TypeError("the templates are not calls by name")
        yield str(key.value), value


def _template(call: ast.Call) -> Template:
    fields = {each.arg or "": ast.literal_eval(each.value) for each in call.keywords}
    return InputOutputTemplate(**fields)


def _over_rows(node: ast.expr) -> str:
    """Return an expression over objects as one over rows: ``o.name`` as ``o['name']``."""
    return ast.unparse(ast.fix_missing_locations(_Subscripts().visit(node)))


class _Subscripts(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Leave methods as they are."""
        node.args = [self.visit(each) for each in node.args]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Subscript:
        """Return a subscript in the place of an attribute."""
        return ast.Subscript(self.visit(node.value), ast.Constant(node.attr), node.ctx)


def _as_criteria(options: Sequence[Any]) -> dict[str, Any]:
    return {"criteria": {"options": [{"name": each.name, "description": each.description} for each in options]}}


# -- what a prompt is made of ---------------------------------------------------------------------------------


def asked_with(
    judge: Artifact, words: Wording | None = None, told: str = "", more: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return what a judge's prompt is made of, as JSON-like data.

    ``judge`` is its name, ``words`` whose words they are (``proctor``, ``unitxt`` with its version, ``its own``),
    ``prompt`` the digest of its templates and criteria, ``instead`` Unitxt's names that mean our words.

    Args:
        judge: The metric.
        words: Those of a judge by criteria; the templates of others are among their fields.
        told: What such a judge is told of its options.
        more: Criteria, a task and what else is not among the judge's fields by value.
    """
    held = [*parts_of(judge), *more]
    parts = [(each, _whose(each)) for each in held if isinstance(each, (Template, Criteria))]
    texts: list[Any] = [each.to_dict() for each, _ in parts]
    texts += [each.to_dict() for each in more if not isinstance(each, (Template, Criteria))]
    whose = {who for _, who in parts if who}
    instead = {each.artifact_id for each, who in parts if who == "proctor" and JUDGING.match(each.artifact_id or "")}
    if words is not None:
        texts += [told, *(words.templates[stage].to_dict() for stage in sorted(words.templates))]
        whose.add(words.whose)
        if words.whose == "proctor" != getattr(judge, "words", ""):
            instead.add(judge.type_name())
    digest = digest_of_words(texts)
    found = {"judge": judge.artifact_id or judge.type_name(), "words": " and ".join(sorted(whose)) or "its own"}
    models = [who_judges(each) for each in parts_of(judge) if hasattr(each, "answering")]
    found |= {"prompt": digest, "models": models} if models else {"prompt": digest}  # type: ignore[dict-item]
    return {**found, **({"instead": sorted(map(str, instead))} if instead else {})}


def digest_of_words(texts: Sequence[Any]) -> str:
    """Return the digest of what a judge is asked with."""
    return blake2b(json.dumps(texts, sort_keys=True, default=str).encode(), digest_size=_BYTES).hexdigest()


def _whose(part: Artifact) -> str:
    file = Path(part.location.file) if part.location is not None else Path()
    if file.is_relative_to(builtin_catalog().folder):
        return "proctor"
    folder = package_folder("unitxt")
    return _release(folder) if folder is not None and file.is_relative_to(folder) else ""
