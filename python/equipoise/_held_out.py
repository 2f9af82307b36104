"""What a model says of rows it has not seen: fitting with weights, folds, and scores on a common scale."""

from __future__ import annotations

import warnings
from inspect import Parameter, signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import Parallel, delayed

from ._rules import Floats


def response(model: Any, wanted: str) -> str:
    """The method whose numbers the rule is on."""
    methods = ("predict_proba", "decision_function")
    if wanted not in ("auto", *methods):
        raise ValueError(f"response_method is {wanted!r}, expected 'auto', 'predict_proba' or 'decision_function'")
    for method in methods if wanted == "auto" else (wanted,):
        if hasattr(model, method):
            return method
    has = " or ".join(methods) if wanted == "auto" else wanted
    raise AttributeError(f"the estimator {type(model).__name__} has no {has}")


def fitted(model: Any, X: Any, y: NDArray[Any], weights: Floats | None) -> Any:
    """The model, fitted with weights where there are some and it takes them."""
    if weights is None:
        return model.fit(X, y)
    name = _weight_name(model)
    if name is None:
        warnings.warn(
            f"{type(model).__name__} takes no sample_weight: the model is fitted without weights, the rule is chosen with them",
            stacklevel=4,
        )
        return model.fit(X, y)
    return model.fit(X, y, **{name: weights})


def _weight_name(model: Any) -> str | None:
    """What a model calls its weights; a pipeline's are those of its last step."""
    if isinstance(model, Pipeline):
        last, step = model.steps[-1]
        inner = None if step in (None, "passthrough") else _weight_name(step)
        return None if inner is None else f"{last}__{inner}"
    parameters = signature(model.fit).parameters
    takes = "sample_weight" in parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    return "sample_weight" if takes else None


def predictions(
    model: Any, X: Any, y: NDArray[Any], weights: Floats | None, folds: Any, n_jobs: int | None, method: str, classes: NDArray[Any]
) -> Floats:
    """What models of the other folds say of each fold."""
    X, y = indexable(X, y)
    splits = list(folds.split(X, y))
    held = np.concatenate([test for _, test in splits])
    if len(held) != len(y) or len(np.unique(held)) != len(y):
        raise ValueError("cv does not hold every row out once, expected folds that are a partition")
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs is {n_jobs!r:.60}, expected a whole number or None")
    # No more at once than there are folds: joblib makes room for as many as it is told, and fails at 2**31.
    jobs = None if n_jobs is None else min(int(n_jobs), len(splits))
    parts = Parallel(n_jobs=jobs)(
        delayed(_fold)(clone(model), X, y, weights, train, test, method, classes) for train, test in splits
    )
    found = np.empty((len(y), *parts[0].shape[1:]))
    for (_, test), part in zip(splits, parts, strict=True):
        found[test] = part
    return found


def _fold(
    model: Any, X: Any, y: NDArray[Any], weights: Floats | None, train: Any, test: Any, method: str, classes: NDArray[Any]
) -> Floats:
    model = fitted(model, _safe_indexing(X, train), y[train], None if weights is None else weights[train])
    found = np.asarray(getattr(model, method)(_safe_indexing(X, test)), dtype=np.float64)
    if len(model.classes_) == len(classes):
        return found
    if method == "decision_function":
        raise ValueError("a fold has rows of one class only; fewer folds (cv) leave some of both in each")
    # A class that is missing from the other folds is never expected there.
    wide = np.zeros((len(found), len(classes)))
    wide[:, np.searchsorted(classes, model.classes_)] = found
    return wide


class Scale:
    """Scores of any size as numbers from 0 to 1 in the same order, by their ranks on the held-out rows."""

    def __init__(self, scores: Floats) -> None:
        self.knots = np.unique(scores)
        self.ranks = (np.arange(len(self.knots)) + 0.5) / len(self.knots)

    def to_unit(self, scores: Floats) -> Floats:
        """Scores between two that were seen keep their place between them."""
        return np.asarray(np.interp(scores, self.knots, self.ranks))

    def from_unit(self, threshold: float, turned: bool) -> float:
        """The score at which a threshold on ranks is; of the first class, scores are turned over."""
        at = 1.0 - threshold if turned else threshold
        if at < self.ranks[0] or at > self.ranks[-1]:
            score = -np.inf if at < self.ranks[0] else np.inf
        else:
            score = float(np.interp(at, self.ranks, self.knots))
        return float(-score if turned else score)
