"""What AISBench's evaluator of boxes says of each box."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from proctor.scoring.evaluators.boxes import overlap, pixels


class BoxDetails:
    """Gives a score of boxes its details: each box in pixels, how much of it is shared, or why it is none."""

    def _said(self, name: str, unsaid: Any) -> Any:
        return vars(self).get(name, unsaid)

    def _scale_prediction(self, pred_box: Sequence[float], image_width: float, image_height: float) -> list[float]:
        """Return a box in pixels of a picture.

        Raises:
            ValueError: It is none.
        """
        size, resized = (float(image_width), float(image_height)), self._said("smart_resize_cfg", None)
        clips = self._said("clip_to_image", True)
        return pixels(pred_box, size, self._said("coord_scale", 1000.0), resized, clips=clips)

    def score(
        self, predictions: Sequence[Any], references: Sequence[Any], *more: Any, **columns: Any
    ) -> dict[str, Any]:
        """Return the share of boxes that lie over the right one by enough, with details of each."""
        found: dict[str, Any] = super().score(predictions, references, *more, **columns)  # type: ignore[misc]
        if "error" not in found:
            found["details"] = [self._box(*pair) for pair in zip(predictions, references, strict=True)]
        return found

    def _box(self, given: Any, reference: Any) -> dict[str, Any]:
        is_resized, scale = self._said("smart_resize_cfg", None), int(self._said("coord_scale", 1000.0))
        mode = "smart_resize_pixels" if is_resized else f"0-{scale}"
        detail = {"pred": given, "answer": reference, "correct": False, "coord_mode": mode}
        try:
            gold = json.loads(reference) if isinstance(reference, str) else reference
            width, height = (
                float(gold[self._said(f"image_{side}_key", f"image_{side}")]) for side in ("width", "height")
            )
            box = self._scale_prediction(given, width, height)
            shared = overlap(box, [float(each) for each in gold[self._said("reference_bbox_key", "bbox")]])
        except (TypeError, ValueError, KeyError, IndexError, ZeroDivisionError) as error:
            return {**detail, "iou": 0.0, "pred_bbox_pixel": None, "invalid": True, "error": str(error)}
        right = shared >= self._said("iou_threshold", 0.5)
        return {**detail, "correct": right, "iou": shared, "pred_bbox_pixel": box}
