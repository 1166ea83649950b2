"""Linear layers whose weights lie in the order that the CPU multiplies fastest.

PyTorch multiplies float32 on x86 with MKL, which sorts the weights for its kernels on every call. oneDNN, which comes
with PyTorch, can be given them sorted once: on an AMD EPYC that made multiplications 1.1 to 1.4 times faster. The
numbers are the same; only sums are rounded in another order. ``torch.compile`` uses the same two operators when it
freezes a model, but needs a C++ compiler, and compiles anew for new lengths.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from proctor.logs import get_logger

_TRIAL = (3, 17, 5, 11, 2, 7, 13, 1)  # any tokens that all vocabularies have, no two the same: one short pass
_TOLERANCE = 1e-3  # sums rounded in another order differ in the sixth digit, wrong weights in the first


def reorder_weights(model: Any) -> bool:
    """Sort the weights of a float32 text model on an x86 CPU, in place; left as it is where that gives other numbers.

    Weights that several modules share (an output layer tied to the embeddings) stay as they are. The memory is that
    of the model: each matrix replaces the one before.

    Returns:
        Whether any weights are sorted now.
    """
    import torch

    if not _can_reorder(model):
        return False
    layers = _layers(model)
    ids = torch.tensor([[token % model.get_input_embeddings().weight.shape[0] for token in _TRIAL]])
    with torch.inference_mode():
        before = model(input_ids=ids, use_cache=False).logits
    made: list[tuple[Any, str, Any]] = []
    try:
        for parent, name, linear in layers:
            made.append((parent, name, linear))
            setattr(parent, name, _layer_class()(linear))
        with torch.inference_mode():
            after = model(input_ids=ids, use_cache=False).logits
        equal = bool(torch.allclose(before, after, rtol=_TOLERANCE, atol=_TOLERANCE))
    except (RuntimeError, NotImplementedError, AttributeError, TypeError) as error:
        get_logger().debug("weights keep their order: %s", error)
        equal = False
    if not equal:
        _restore(made)
    return equal and bool(made)


def _can_reorder(model: Any) -> bool:
    import platform

    import torch

    return (
        model.device.type == "cpu"
        and model.dtype is torch.float32
        and platform.machine().lower() in {"x86_64", "amd64"}
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


def _layers(model: Any) -> list[tuple[Any, str, Any]]:
    """Return the plain linear layers with weights of their own: the module that holds each, its name there, itself."""
    import torch

    users = Counter(id(parameter) for module in model.modules() for parameter in module.parameters(recurse=False))
    output = model.get_output_embeddings()
    return [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is torch.nn.Linear
        and child is not output
        and users[id(child.weight)] == 1
        and child.weight.dtype is torch.float32
        and not (child._forward_hooks or child._forward_pre_hooks)  # noqa: SLF001 - somebody looks at this layer
    ]


@cache
def _layer_class() -> Any:
    """Return the class of such layers; made on first use, because it derives from one of torch."""
    import torch

    class ReorderedLinear(torch.nn.Module):  # type: ignore[misc]  # torch is not typed for us
        """Gives what a linear layer gives, and takes its weight away."""

        def __init__(self, linear: Any) -> None:
            super().__init__()
            self.in_features, self.out_features = linear.in_features, linear.out_features
            self.bias = linear.bias
            self.weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)  # noqa: SLF001
            linear.weight = None

        def forward(self, inputs: Any) -> Any:
            return torch.ops.mkldnn._linear_pointwise(inputs, self.weight, self.bias, "none", [], "")  # noqa: SLF001

    return ReorderedLinear


def _restore(made: list[tuple[Any, str, Any]]) -> None:
    import torch

    for parent, name, linear in made:
        current = getattr(parent, name)
        if current is not linear:
            linear.weight = torch.nn.Parameter(current.weight.to_dense(), requires_grad=False)
            setattr(parent, name, linear)
