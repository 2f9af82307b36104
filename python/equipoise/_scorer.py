"""A metric as a scorer of scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.metrics._scorer import _Scorer


class MetricScorer(_Scorer):  # type: ignore[misc]
    """What ``make_scorer`` makes, except that the model says which classes there are.

    A fold may have rows of one class only, and its label alone does not tell whether that is the positive one.
    """

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> Any:
        if "labels" not in self._kwargs and hasattr(estimator, "classes_"):
            kwargs.setdefault("labels", list(estimator.classes_))
        return super()._score(method_caller, estimator, X, y_true, **kwargs)
