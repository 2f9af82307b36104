"""What classifiers can be built: the set questions are asked about."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _predictions


class Space:
    """The classifiers that could be built from predictions, or from a law in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import Space
    >>> random = np.random.default_rng(0)
    >>> probability = random.random(500)
    >>> y = random.random(500) < probability
    >>> space = Space.from_predictions(y, probability)
    >>> space.classes
    [False, True]
    """

    def __init__(
        self,
        document: dict[str, Any] | None,
        *,
        predictions: _core.Predictions | None = None,
        classes: list[Any] | None = None,
        groups: list[str] | None = None,
    ) -> None:
        if document is None and predictions is None:
            raise TypeError("a space needs a document or predictions")
        self._document = document
        self._predictions = predictions
        self.classes = classes
        self.groups = groups or []

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        labels: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        sensitive_features: Any = None,
    ) -> Space:
        """What post-shifts of predicted probabilities can reach.

        Parameters
        ----------
        y_true : column of labels
        y_proba : column of the positive class's probabilities, or one column per class
            As ``predict_proba`` gives it, in the order of the classes.
        labels : sequence, optional
            The classes in the order of the columns; by default the sorted labels that occur.
        pos_label : label, optional
            The positive one of two classes, where ``y_proba`` is one column; by default the last.
        sample_weight : column of numbers, optional
        sensitive_features : column, data frame or dict of columns, optional
            The groups, for fairness.
        """
        found = _predictions.read(
            y_true,
            y_proba,
            labels=labels,
            pos_label=pos_label,
            sample_weight=sample_weight,
            sensitive_features=sensitive_features,
        )
        return cls(None, predictions=found.core, classes=found.classes, groups=found.groups)

    @classmethod
    def from_document(cls, document: dict[str, Any] | str) -> Space:
        """A space document, such as ``{"kind": "logistic", "slope": 5}`` or a ball of error rates."""
        read = json.loads(_checks.document(document))
        return cls(dict(_checks.mapping(read, "document")))

    def document(self, family: str = "linear") -> dict[str, Any]:
        """The space that questions about a family of metrics are taken from."""
        if self._document is not None:
            return self._document
        assert self._predictions is not None
        document: dict[str, Any] = json.loads(self._predictions.space(family))
        return document

    @property
    def prevalence(self) -> NDArray[np.float64] | None:
        """The joint shares of groups (rows) and classes (columns); None for a law."""
        return None if self._predictions is None else np.asarray(self._predictions.shares())

    def __repr__(self) -> str:
        if self._predictions is None:
            return f"<Space {self._document}>"
        groups = f", groups {', '.join(self.groups)}" if self.groups else ""
        return f"<Space of {self._predictions.rows()} predictions, classes {self.classes}{groups}>"
