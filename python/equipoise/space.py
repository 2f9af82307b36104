"""What classifiers can be built: the set questions are asked about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _predictions

if TYPE_CHECKING:
    from .metric import Metric


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
        shares: list[list[float]] | None = None,
    ) -> None:
        if document is None and predictions is None:
            raise TypeError("a space needs a document or predictions")
        self._document = document
        self._predictions = predictions
        self.classes = classes
        self.groups = groups or []
        self._shares = shares or None

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

    def document(self, family: str = "linear", around: Metric | str | None = None) -> dict[str, Any]:
        """The space that questions about a family of metrics are taken from.

        Parameters
        ----------
        family : str
            As for :class:`Interview`.
        around : {"model", "balanced"}, Metric or its name, optional
            The classifier whose neighbours are asked about, two kinds of error at a time: the most likely class, the same with
            all classes weighed alike, or the best rule for a metric. By default thresholds, or a ball of error rates around
            the toss of a coin.
        """
        if self._predictions is None:
            if around is not None:
                raise ValueError("around needs predictions: Space.from_predictions has them, a document does not")
            assert self._document is not None
            return self._document
        if around is None or around == "coin":
            found = self._predictions.space(family)
        else:
            found = self._around(family, around)
        document: dict[str, Any] = json.loads(found)
        return document

    def _around(self, family: str, around: Metric | str) -> str:
        from .metric import Metric

        assert self._predictions is not None
        if not self.fits_around(family):
            raise ValueError(
                f"around is {around!r}, which is for a linear metric of more than 2 classes, or a group_fair one of 2 groups"
            )
        by_group = family == "group_fair"
        try:
            if around in ("model", "balanced"):
                return self._predictions.operating_point(str(around), by_group)
            metric = Metric._meant(around, self._predictions.shares())
            return self._predictions.operating_point("metric", by_group, metric._core)
        except ValueError as error:
            raise ValueError(f"{error}; around='coin' asks about others") from error

    @property
    def has_predictions(self) -> bool:
        """Whether it comes from predictions, and not from a document."""
        return self._predictions is not None

    def fits_around(self, family: str) -> bool:
        """Whether questions about a family can be asked around a classifier."""
        if self._predictions is None:
            return False
        return (family == "linear" and len(self.classes or []) > 2) or (family == "group_fair" and len(self.groups) == 2)

    def _repr_html_(self) -> str:
        from ._html import page

        if self._predictions is None:
            return page("What can be built", [("law", json.dumps(self._document)[:200])])
        shares = np.asarray(self._predictions.shares()).sum(axis=0)
        told = ", ".join(f"{name} {share:.1%}" for name, share in zip(self.classes or [], shares, strict=True))
        rows = [("predictions", f"{self._predictions.rows():,}"), ("classes", told)]
        return page("What can be built", rows + ([("groups", ", ".join(self.groups))] if self.groups else []))

    @property
    def prevalence(self) -> NDArray[np.float64] | None:
        """The joint shares of groups (rows) and classes (columns); None for a law."""
        shares = self._shares if self._predictions is None else self._predictions.shares()
        return None if shares is None else np.asarray(shares)

    def __repr__(self) -> str:
        if self._predictions is None:
            return f"<Space {self._document}>"
        groups = f", groups {', '.join(self.groups)}" if self.groups else ""
        return f"<Space of {self._predictions.rows()} predictions, classes {self.classes}{groups}>"
