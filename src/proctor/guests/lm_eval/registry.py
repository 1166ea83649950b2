"""``lm_eval.api.registry``: names that code of tasks gives to filters, metrics, aggregations and models of its own.

What is registered here is found by task files: a filter in ``filter_list``, a metric in ``metric_list``, an aggregation
behind ``aggregation``; a model by ``simple_evaluate``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from proctor.engines.engine_names import REGISTERED
from proctor.errors import ScoringError, UsageError, did_you_mean
from proctor.scoring import metric_table as core
from proctor.scoring.aggregations import AGGREGATIONS
from proctor.scoring.named_table import LM_EVAL
from proctor.scoring.text.text_functions import text_function_table

if TYPE_CHECKING:
    from proctor.engines.engine import Engine

_NOTHING: Final = object()
_AGGREGATED: Final = frozenset(AGGREGATIONS) - {"chrf++"}
_MEASURED: Final = frozenset(
    (
        *("acc", "acc_all", "acc_bytes", "acc_mutual_info", "acc_norm", "bits_per_byte", "bleu", "brier_score"),
        *("bypass", "byte_perplexity", "chrf", "exact_match", "f1", "likelihood", "mcc", "perplexity", "ter"),
        "word_perplexity",
    )
)
"""Metrics that lm-eval 0.4.13 registers; what it takes from ``evaluate`` besides, code of a task may register."""


class RegistryError(UsageError):
    """A name is taken."""


class UnknownNameError(UsageError, KeyError):
    """Nothing is registered under a name."""

    __str__ = UsageError.__str__


def _place_of(found: Any) -> str:
    return (
        found if isinstance(found, str) else f"{getattr(found, '__module__', '')}:{getattr(found, '__name__', found)}"
    )


_only: ContextVar[Container[str] | None] = ContextVar("proctor_registered", default=None)


@contextmanager
def taking_only(names: Container[str]) -> Iterator[None]:
    """Let code register these names within the block; all others stay what they are, without a word."""
    token = _only.set(names)
    try:
        yield
    finally:
        _only.reset(token)


def _takes(name: str) -> bool:
    return (only := _only.get()) is None or name in only


class Registry(Mapping[str, Any]):
    """Things by name: those of this package, and what was registered.

    Args:
        name: What they are.
        built_in: Returns the ones of this package, when somebody asks.
        taken: Names of lm-eval's own, which nobody can register again.
    """

    def __init__(
        self, name: str, built_in: Callable[[], Mapping[str, Any]] = dict, taken: Container[str] = frozenset()
    ) -> None:
        self.name = name
        self._taken = taken
        self.own: dict[str, Any] = {}
        self._built_in = built_in

    def register(self, *names: str, target: Any = None) -> Any:
        """Return a decorator that registers what it decorates; without a name, under its own.

        With ``target``, that is registered at once.

        A ``target`` that is a text (``module:name``) is imported when it is asked for.

        Raises:
            RegistryError: Something else has the name.
        """

        def decorate(found: Any) -> Any:
            for name in names or (found.__name__,):
                if _takes(name):
                    self._take(name, found)
            return found

        return decorate if target is None else decorate(target)

    def _take(self, name: str, found: Any) -> None:
        there = self.own.get(name)
        if there is not None and there is not found and _place_of(there) != _place_of(found):
            raise RegistryError(f"a {self.name} '{name}' is already registered", why=f"{_place_of(there)}")
        if name in self._taken:
            raise RegistryError(f"a {self.name} '{name}' is already registered", why="it is one of lm-eval's own")
        self.own[name] = found

    def __getitem__(self, name: str) -> Any:
        if name not in self.own:
            try:
                return self._built_in()[name]
            except KeyError:
                raise UnknownNameError(
                    f"Unknown {self.name} '{name}'", hint=did_you_mean(name, self) or f"there are {', '.join(self)}"
                ) from None
        found = self.own[name]
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            found = self.own[name] = getattr(import_module(module), attribute)
        return found

    def get(self, name: str, default: Any = _NOTHING) -> Any:
        """Return what a name means; without a default, an unknown one is an error.

        Raises:
            UnknownNameError: Nothing has the name.
        """
        return self[name] if default is _NOTHING or name in self else default

    def knows(self, built_in: Callable[[], Mapping[str, Any]]) -> Registry:
        """Let it have what another place makes of this package, and return it."""
        self._built_in = built_in
        return self

    def is_ours(self, name: str) -> bool:
        """Whether a name means something here that no code has registered."""
        return name in self._taken or name in self._built_in()

    def __iter__(self) -> Iterator[str]:
        return iter({**self._built_in(), **self.own})

    def __len__(self) -> int:
        return len({**self._built_in(), **self.own})


class _Models(Registry):
    """Classes of models, which every engine's name is looked for among."""

    def _take(self, name: str, found: Any) -> None:
        super()._take(name, found)
        REGISTERED[name] = partial(_engine_of, name)


def _engine_of(name: str, given: Mapping[str, Any]) -> Engine:
    from proctor.guests.lm_eval.foreign_model import registered_engine

    return registered_engine(name, given)


def _filters() -> Mapping[str, Any]:
    from proctor.guests.lm_eval.filters import FILTERS

    return FILTERS


def _metrics() -> Mapping[str, Any]:
    return core.metric_table().of(LM_EVAL)


def _aggregations_of_metrics() -> Mapping[str, Any]:
    return {name: AGGREGATIONS[each.aggregation] for name, each in _metrics().items()}


def _directions() -> Mapping[str, Any]:
    return {name: each.higher_is_better for name, each in _metrics().items() if each.higher_is_better is not None}


model_registry = MODEL_REGISTRY = _Models("model")
filter_registry = FILTER_REGISTRY = Registry("filter", _filters, text_function_table().of(LM_EVAL))
aggregation_registry = AGGREGATION_REGISTRY = Registry("aggregation", lambda: AGGREGATIONS, _AGGREGATED)
metric_registry = METRIC_REGISTRY = Registry("metric", core.text_metrics, _MEASURED)
metric_agg_registry = METRIC_AGGREGATION_REGISTRY = Registry("metric_aggregation", _aggregations_of_metrics)
higher_is_better_registry = HIGHER_IS_BETTER_REGISTRY = Registry("higher_is_better", _directions)


def register_model(*names: str) -> Any:
    """Return a decorator that registers a model's class; ``--model`` finds it, too."""
    return model_registry.register(*names)


def register_filter(name: str) -> Any:
    """Return a decorator that registers a filter's class."""
    return filter_registry.register(name)


def register_aggregation(name: str) -> Any:
    """Return a decorator that registers an aggregation."""
    return aggregation_registry.register(name)


def register_metric(
    *,
    metric: str,
    higher_is_better: bool | None = None,
    aggregation: str | None = None,
    output_type: str | list[str] | None = None,
) -> Any:
    """Return a decorator that registers a metric; recipes, configs and eval.yaml files of this process find it, too.

    Args:
        metric: Its name.
        higher_is_better: Whether more is better.
        aggregation: The name of its aggregation.
        output_type: What it is made for; nothing depends on it.

    Raises:
        ScoringError: There is no such aggregation.
    """
    del output_type
    if not _takes(metric):
        return lambda function: function
    if aggregation is not None:
        metric_agg_registry.register(metric, target=get_aggregation(aggregation))
    if higher_is_better is not None:
        higher_is_better_registry.own[metric] = higher_is_better

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        how = "mean" if aggregation is None else get_aggregation(aggregation)
        core.register_metric(metric, function, aggregation=how, higher_is_better=higher_is_better)
        return metric_registry.register(metric)(function)  # type: ignore[no-any-return]

    return decorate


def get_filter(filter_name: Any) -> Any:
    """Return a filter's class by name; a class is returned as it is.

    Raises:
        ScoringError: There is no such filter.
    """
    return filter_name if callable(filter_name) else _got(filter_registry, filter_name)


def get_metric(name: str, hf_evaluate_metric: bool = False) -> Callable[..., Any]:
    """Return what computes a metric.

    Raises:
        ScoringError: There is no such metric.
    """
    if not hf_evaluate_metric and name in metric_registry:
        return metric_registry[name]  # type: ignore[no-any-return]
    from proctor.scoring.metrics.hugging_face import hub_metric

    return hub_metric(name)


def get_aggregation(name: str) -> Callable[..., Any]:
    """Return an aggregation by name.

    Raises:
        ScoringError: There is no such aggregation.
    """
    return _got(aggregation_registry, name)  # type: ignore[no-any-return]


def get_metric_aggregation(name: str) -> Callable[..., Any]:
    """Return the aggregation of a metric that names none.

    Raises:
        ScoringError: The metric is not known, and was not registered with one.
    """
    return _got(metric_agg_registry, name)  # type: ignore[no-any-return]


def is_higher_better(metric_name: str) -> bool | None:
    """Return whether more of a metric is better; ``None`` where nobody said."""
    return higher_is_better_registry.get(metric_name, None)  # type: ignore[no-any-return]


def get_model(model_name: str) -> Any:
    """Return a model's class that was registered.

    Raises:
        UsageError: None was registered under that name.
    """
    if model_name not in model_registry:
        raise UsageError(
            f"no class is registered as the model '{model_name}'",
            hint="models of Proctor are named, and made by what asks them: simple_evaluate(model='hf', …)",
        )
    return model_registry[model_name]


def registered(kind: str, name: Any) -> Any:
    """Return what code has registered under a name; ``None`` where nobody has.

    Args:
        kind: Name of the registry: ``metric_registry``, ``filter_registry`` …
        name: The name.
    """
    registry: Registry = globals()[kind]
    return registry[name] if name in registry.own else None


def _got(registry: Registry, name: Any) -> Any:
    if name not in registry:
        raise ScoringError(f"there is no {registry.name} '{name}'", why=f"there are {', '.join(sorted(registry))}")
    return registry[name]
