"""Operators: steps that turn streams into streams.

===========================  ==============================  =======================================================
base class                   override                        for
===========================  ==============================  =======================================================
``FieldOperator``            ``process_value(value)``        one field's value (``process(value)`` works as well)
``InstanceFieldOperator``    ``process_instance_value``      one field's value, seeing the whole row
``InstanceOperator``         ``process(instance, name)``     a row
``PagedStreamOperator``      ``process(page, name)``         a thousand rows at a time
``StreamOperator``           ``process(stream, name)``       the rows of one stream, as a generator
``MultiStreamOperator``      ``process(multi_stream)``       all streams
``SourceOperator``           ``process()``                   making streams from nothing
===========================  ==============================  =======================================================

Consecutive instance operators run in one loop: :meth:`InstanceOperator.bind` returns a plain function for a stream,
and a :class:`MappedStream` applies such functions to each row. Built-in operators override
:meth:`InstanceOperator.compile` to prepare what they can once; overriding ``process`` in a subclass always wins.
Built-in operators never change a value inside a row; rows given to foreign code are copied first, so that it may.
"""

from proctor.data.field_operator import FieldOperator, InstanceFieldOperator
from proctor.data.operator_bases import (
    InstanceOperator,
    MappedStream,
    MultiStreamOperator,
    Operator,
    PagedStreamOperator,
    SideEffectOperator,
    SingleStreamOperator,
    SourceOperator,
    Step,
    StreamingOperator,
    StreamOperator,
    container_copy,
    run_steps,
)
from proctor.data.sequences import SequentialMixin, SequentialOperator, SourceSequentialOperator

__all__ = [
    "FieldOperator",
    "InstanceFieldOperator",
    "InstanceOperator",
    "MappedStream",
    "MultiStreamOperator",
    "Operator",
    "PagedStreamOperator",
    "SequentialMixin",
    "SequentialOperator",
    "SideEffectOperator",
    "SingleStreamOperator",
    "SourceOperator",
    "SourceSequentialOperator",
    "Step",
    "StreamOperator",
    "StreamingOperator",
    "container_copy",
    "run_steps",
]
