"""``proctor contamination``: does a model know the order in which an exam is published?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from proctor.cli.commands import WalledCommand, open_wall_for, quiet_option
from proctor.cli.error_reporting import DONE, quietly, say
from proctor.cli.exam_options import exam_options, read_options, take_trust
from proctor.cli.execution import terminated_like_ctrl_c
from proctor.cli.log_option import LOG
from proctor.cli.model_options import budget_options, exams_argument, model_options, named_too
from proctor.cli.run_options import origin_of_model, spec_of_options
from proctor.errors import UsageError
from proctor.terminal_text import printable

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam
    from proctor.running.planning import RunPlan
    from proctor.running.spec import RunSpec

_LOADERS: Final = ("json", "csv", "parquet", "text")  # of lm-eval's tasks with files of rows
_SEEDS: Final = (1, 2)  # other seeds, under which a published order is the same


@click.command("contamination", cls=WalledCommand, asks=True)
@exams_argument
@click.option("--permutations", type=click.IntRange(min=19), default=99, show_default=True, metavar="N",
              help="Other orders of each shard; p is 1 in N + 1 at the least.")  # fmt: skip
@click.option("--shards", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
              help="Parts of the exam, within which instances are put in other orders.")  # fmt: skip
@click.option("--order-is-public", is_flag=True, help="The rows of your file lie in public in this order.")
@click.option("--plan", "plan_only", is_flag=True, help="Say what it takes, and ask nobody.")
@model_options
@click.option("--log", type=LOG, help="The response log.")
@click.option("--retry-failed/--keep-failed", default=True, show_default=True, help="Ask again what failed before.")
@budget_options
@click.option("--json", "as_json", is_flag=True, help="Print the test as JSON.")
@quiet_option
@exam_options
def command(**options: Any) -> int:
    """Test whether a model finds the published order of an exam likelier than others: then it has seen it.

    The likelihood of each shard in its published order is compared with those of permuted ones. The rank is exact: of
    models that have not seen the order, p is 5% or less in 5% of cases. A large p does not say that the exam is unseen.

    \b
    proctor contamination samples.arithmetic --model smollm2 --shards 2 --plan
    """  # noqa: D301 - click reads the control character
    from proctor.cli.json_output import print_json
    from proctor.engines.engine_registry import make_engine
    from proctor.running.budget import make_allowance, price_table
    from proctor.running.contamination import order_of, orders_of
    from proctor.running.planning import plan_run

    options = named_too(options)
    mine = {name: options.pop(name) for name in _MINE}
    take_trust(options)
    options = read_options({**options, "log_samples": None})
    spec = spec_of_options(options)
    with (
        closing(make_engine(spec.model, spec.model_args, origin_of_model(options))) as engine,
        terminated_like_ctrl_c(),
    ):
        open_wall_for(engine)
        orders = orders_of(_exam_of(spec, engine, mine), mine["shards"], mine["permutations"], spec.seed)
        prices = price_table(mine["prices"]) if mine["prices"] else None
        plan = plan_run([orders.part], engine, log=mine["log"], prices=prices)
        facts = {
            "exam": orders.part.name, "model": engine.label, "instances": orders.instances, "shards": mine["shards"],
            "permutations": orders.permutations, "seed": orders.seed,
        }  # fmt: skip
        say(_price(plan))
        if mine["plan_only"]:
            if mine["as_json"]:
                print_json(
                    {**facts, "tokens_in": plan.exams[0].tokens_in.value, "requests": plan.exams[0].left}, indent=2
                )
            return DONE
        limits = {"tokens": mine["budget_tokens"], "usd": mine["budget_usd"], "prices": mine["prices"]}
        budget = make_allowance(engine.price_name, **limits)
        found = order_of(orders, engine, log=mine["log"], retry_failed=mine["retry_failed"], budget=budget)
    record = {**facts, **found._asdict()}
    if mine["as_json"]:
        print_json(record, indent=2)
    else:
        for line in _lines(record):
            click.echo(printable(line))
    return DONE


_MINE: Final = (
    *("permutations", "shards", "order_is_public", "plan_only", "log", "retry_failed"),
    *("budget_tokens", "budget_usd", "prices", "as_json"),
)


def _exam_of(spec: RunSpec, engine: Any, mine: Mapping[str, Any]) -> Exam:
    """Return the exam that is tested.

    Raises:
        UsageError: There are several, its order is drawn, or nobody says that it is public.
    """
    from proctor.dialects.run_file import exams_of_spec
    from proctor.recipes.permissions import admit
    from proctor.settings import settings

    exams = exams_of_spec(spec)
    admit(exams, engine)
    if len(exams) != 1:
        raise UsageError(
            f"a test is of one exam, and {', '.join(spec.tasks)} are {len(exams)}", hint="name one of them"
        )
    exam = exams[0]
    if not mine["order_is_public"] and _is_of_files(exam):
        why = "it reads a file of yours, and a model can know an order only from where it is published"
        hint = "--order-is-public, where the rows lie in public in the order of the file"
        raise UsageError(f"nobody says that the order of '{exam.name}' is public", why=why, hint=hint)
    for seed in _SEEDS:
        with quietly(), settings.context(default_verbosity="error"):
            (other,) = exams_of_spec(replace(spec, seed=seed))
        if other.rows_digest().in_order != exam.rows_digest().in_order:
            why = "with another seed its instances are others, or in another order"
            raise UsageError(f"the order of '{exam.name}' is drawn, and not published", why=why, hint="choose another")
    return exam


def _is_of_files(exam: Exam) -> bool:
    """Whether an exam reads rows of the user's."""
    task = exam.source.get("task")
    path = str(task.get("dataset_path") or "") if isinstance(task, dict) else ""
    return exam.dialect == "promptfoo" or path in _LOADERS or Path(path).is_file()


def _price(plan: RunPlan) -> str:
    (found,) = plan.exams
    usd = plan.usd(found)
    price = "" if usd is None else f", about ${usd.value:,.2f}"
    return f"{found.left:,} likelihoods to ask for, about {found.tokens_in.value:,.0f} tokens to read{price}"


_RARE: Final = 0.05


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    number = record["permutations"]
    yield f"{record['exam']}: {record['instances']:,} instances in {record['shards']} shards, read by {record['model']}"
    yield f"its published order is likelier than {record['likelier_than']} of {number} others: p = {record['p']:.3g}"
    if record["p"] <= _RARE:
        yield "the model knows the order, as only who has seen the exam can, unless the instances follow each other"
    else:
        yield "nothing says that it knows the order; it may have seen the exam otherwise, or too seldom to tell"
