"""Classifiers for scikit-learn that make the best of a model's probabilities for a metric, without training it anew.

All wrap an estimator with ``predict_proba``. With ``prefit=True`` it is used as it is; otherwise its probabilities are
predicted on held-out folds, so that the rule is not chosen on rows the model has seen, and the model is then fitted to
all rows. ``predict`` is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _checks, _core, _inputs, _predictions
from .metric import Metric
from .scoring import confusion_counts


class _Rule(Protocol):
    """From class probabilities (and groups, by their place) to the places of classes."""

    def __call__(self, probabilities: NDArray[np.float64], groups: NDArray[np.uint16] | None) -> NDArray[np.int64]: ...


class _Thresholds:
    """Accepts the positive class from a threshold on; one for all, or one per group."""

    def __init__(self, thresholds: Sequence[float]) -> None:
        self.thresholds = np.asarray(thresholds, dtype=np.float64)

    def __call__(self, probabilities: NDArray[np.float64], groups: NDArray[np.uint16] | None) -> NDArray[np.int64]:
        at = self.thresholds if len(self.thresholds) == 1 else self.thresholds[_needed(groups)]
        return (probabilities[:, 1] >= at).astype(np.int64)


class _Rewards:
    """Predicts the class with the largest expected reward."""

    def __init__(self, rewards: NDArray[np.float64]) -> None:
        self.rewards = rewards

    def __call__(self, probabilities: NDArray[np.float64], groups: NDArray[np.uint16] | None) -> NDArray[np.int64]:
        return _core.post_shift_predict(np.ascontiguousarray(probabilities), self.rewards, groups)


class _Votes:
    """Rules of Frank-Wolfe that vote with their shares."""

    def __init__(self, document: str) -> None:
        self.document = document

    def __call__(self, probabilities: NDArray[np.float64], groups: NDArray[np.uint16] | None) -> NDArray[np.int64]:
        columns = [np.ascontiguousarray(column) for column in probabilities.T]
        return _core.frank_wolfe_predict(self.document, columns, groups)


def _needed(groups: NDArray[np.uint16] | None) -> NDArray[np.uint16]:
    if groups is None:
        raise ValueError("the rule depends on the group: pass sensitive_features to predict")
    return groups


class _PostProcessor(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What all have in common: probabilities on held-out rows, groups, and a rule on both."""

    _only_two = False

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Any:
        """Fits the model unless it is fitted already, and chooses the rule.

        Parameters
        ----------
        X : array or data frame of shape (rows, features)
        y : column of labels
        sensitive_features : column, data frame or dict of columns, optional
            The groups; a rule that depends on them needs them in :meth:`predict` too.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        # scikit-learn's own reading of lists and arrays warns about a column with two dimensions.
        labels = column_or_1d(y, warn=True) if isinstance(y, (list, np.ndarray)) else _inputs.column(y, "y")
        check_classification_targets(labels)
        if self._only_two and type_of_target(labels) == "multiclass":
            raise ValueError("Only binary classification is supported. The type of the target is multiclass.")
        probabilities = self._probabilities(X, labels)
        self.classes_ = np.asarray(self.estimator_.classes_)
        codes, names = _inputs.groups(sensitive_features, len(labels))
        self.group_names_ = names
        self._choose(labels, probabilities, sensitive_features, codes)
        return self

    def _probabilities(self, X: Any, y: NDArray[Any]) -> NDArray[np.float64]:
        model = self.estimator if self.estimator is not None else LogisticRegression()
        if self.prefit:
            check_is_fitted(model)
            self.estimator_ = model
            return np.asarray(model.predict_proba(X), dtype=np.float64)
        folds = check_cv(self.cv, y, classifier=True)
        if hasattr(folds, "shuffle") and self.random_state is not None:
            folds.shuffle, folds.random_state = True, check_random_state(self.random_state).randint(2**31 - 1)
        self.estimator_ = clone(model)
        self.estimator_.fit(X, y)
        if len(self.estimator_.classes_) < 2:
            raise ValueError("y has 1 class, expected at least 2 classes")
        held_out = cross_val_predict(clone(model), X, y, cv=folds, method="predict_proba")
        return np.asarray(held_out, dtype=np.float64)

    def _choose(self, y: Any, probabilities: Any, sensitive_features: Any, codes: NDArray[np.uint16] | None) -> None:
        raise NotImplementedError

    def _metric(self, predictions: _core.Predictions) -> Metric:
        """The metric, where a name means it for classes as common as in the rows."""
        if isinstance(self.metric, Metric):
            return self.metric
        return Metric.named(self.metric, prevalence=predictions.shares())

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NDArray[Any]:
        """The classes of rows; needs ``sensitive_features`` where the rule depends on groups."""
        check_is_fitted(self, "rule_")
        probabilities = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        codes = None
        if sensitive_features is not None and self.group_names_:
            codes = _group_places(sensitive_features, self.group_names_, len(probabilities))
        classes: NDArray[Any] = self.classes_[self.rule_(probabilities, codes)]
        return classes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The model's own probabilities; the rule decides on them, it does not change them."""
        check_is_fitted(self, "rule_")
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    @property
    def n_features_in_(self) -> int:
        """How many features the model has seen."""
        check_is_fitted(self, "estimator_")
        count: int = self.estimator_.n_features_in_
        return count

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rule_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._only_two
        model = self.estimator if self.estimator is not None else LogisticRegression()
        tags.input_tags.sparse = get_tags(model).input_tags.sparse
        return tags


def _group_places(sensitive_features: Any, names: list[str], rows: int) -> NDArray[np.uint16]:
    codes, found = _inputs.groups(sensitive_features, rows)
    unknown = [name for name in found if name not in names]
    if unknown:
        raise ValueError(f"sensitive_features have the group {unknown[0]!r}, which fit has not seen")
    return np.array([names.index(name) for name in found], dtype=np.uint16)[codes]


class ThresholdClassifier(_PostProcessor):
    """A model of two classes, cut where a metric wants it.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    metric : Metric or str
        The metric, or its name (see :meth:`Metric.named`).
    threshold : {"measured", "bayes", "advised"}
        The best threshold on the held-out rows, the one theory gives for calibrated probabilities, or whichever of
        them :func:`best_threshold` advises.
    per_group : bool
        A threshold for every group of ``sensitive_features``, which ``predict`` then needs too.
    requirements : sequence of str
        What the rule must keep on the held-out rows, such as ``"recall:1>=0.9"``.
    prefit : bool
        Whether the estimator is fitted already; then ``fit`` should get rows it has not seen.
    cv : int or splitter, optional
        How rows are held out where it is not.
    random_state : int, optional
        Shuffles the folds.

    Attributes
    ----------
    threshold_ : float
        The threshold, where there is one for all.
    thresholds_ : dict
        The thresholds by group, where every group has its own.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from equipoise import ThresholdClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    >>> model = ThresholdClassifier(tree, metric="6:1", threshold="bayes").fit(X, y)
    >>> round(model.threshold_, 4)
    0.1429
    """

    _only_two = True

    def __init__(
        self,
        estimator: Any = None,
        metric: Metric | str = "accuracy",
        *,
        threshold: str = "measured",
        per_group: bool = False,
        requirements: Sequence[str] = (),
        prefit: bool = False,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.threshold = threshold
        self.per_group = per_group
        self.requirements = requirements
        self.prefit = prefit
        self.cv = cv
        self.random_state = random_state

    def _choose(self, y: Any, probabilities: Any, sensitive_features: Any, codes: NDArray[np.uint16] | None) -> None:
        if self.threshold not in ("measured", "bayes", "advised"):
            raise ValueError(f"threshold is {self.threshold!r}, expected 'measured', 'bayes' or 'advised'")
        if len(self.classes_) != 2:
            raise ValueError(f"y has {len(self.classes_)} classes, expected 2")
        if self.per_group and len(self.group_names_) < 2:
            raise ValueError("per_group needs sensitive_features with at least 2 groups")
        if self.per_group and self.threshold != "measured":
            raise ValueError(f"threshold is {self.threshold!r}, but thresholds per group are 'measured'")
        predictions = _predictions.read(y, probabilities, labels=self.classes_, sensitive_features=sensitive_features)
        metric = self._metric(predictions.core)
        if self.threshold == "measured":
            found, _, _ = predictions.core.best_thresholds(metric._core, list(self.requirements), self.per_group)
        else:
            from .thresholds import best_threshold

            advice = best_threshold(
                y, probabilities, metric=metric, requirements=self.requirements, labels=self.classes_,
                sensitive_features=sensitive_features, draws=0 if self.threshold == "bayes" else 200,
            )  # fmt: skip
            chosen = advice.bayes if self.threshold == "bayes" else advice.threshold
            if chosen is None:
                raise ValueError("theory has no threshold for this metric; threshold='measured' finds the best one")
            found = [chosen]
        self.rule_: _Rule = _Thresholds(found)
        if self.per_group:
            self.thresholds_ = dict(zip(self.group_names_, found, strict=True))
        else:
            self.threshold_ = float(found[0])


class PostShiftClassifier(_PostProcessor):
    """A model of any number of classes, shifted to make the best of a metric of any family.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    metric : Metric or str
        The metric, or its name. One that compares groups needs ``sensitive_features``.
    method : {"auto", "bayes", "search", "frank_wolfe"}
        ``bayes`` is the rule that is best for a linear metric where probabilities are calibrated. ``search`` is exact
        for two classes: every threshold is tried (per group, if there are groups and the metric compares them); for
        more classes it looks for better weights of the classes around the Bayes rule. ``frank_wolfe`` works for
        every metric that has a gradient (FW-EG, with a weight per class and group). ``auto`` searches for two classes
        and for linear metrics, and takes Frank-Wolfe otherwise.
    per_group : bool
        Whether groups may have rules of their own where the metric does not ask for it.
    iterations : int
        Of Frank-Wolfe.
    prefit, cv, random_state
        As for :class:`ThresholdClassifier`.

    Attributes
    ----------
    method_ : str
        The method that was used.
    value_ : float
        The metric on the held-out rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from equipoise import Metric, PostShiftClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = {"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost", "weights": [1, 1, 1, 1, 1, 9]}
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = PostShiftClassifier(GaussianNB(), metric=Metric(costs), method="bayes").fit(X, y)
    >>> bool((model.predict(X) == 2).sum() > (GaussianNB().fit(X, y).predict(X) == 2).sum())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        metric: Metric | str = "accuracy",
        *,
        method: str = "auto",
        per_group: bool = False,
        iterations: int = 20,
        prefit: bool = False,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.method = method
        self.per_group = per_group
        self.iterations = iterations
        self.prefit = prefit
        self.cv = cv
        self.random_state = random_state

    def _choose(self, y: Any, probabilities: Any, sensitive_features: Any, codes: NDArray[np.uint16] | None) -> None:
        read = _predictions.read(y, probabilities, labels=self.classes_, sensitive_features=sensitive_features)
        predictions, k = read.core, len(self.classes_)
        metric = self._metric(predictions)
        compares = metric._core.group_count > 1
        if compares and metric._core.group_count != len(self.group_names_):
            count = metric._core.group_count
            raise ValueError(f"the metric compares {count} groups, but sensitive_features have {len(self.group_names_)}")
        by_group = (compares or self.per_group) and len(self.group_names_) > 1
        method = self.method
        if method == "auto":
            method = "search" if k == 2 or (metric.kind == "linear" and not by_group) else "frank_wolfe"
        if method == "search" and k == 2:
            found, self.value_, _ = predictions.best_thresholds(metric._core, [], by_group)
            self.rule_: _Rule = _Thresholds(found)
        elif method in ("bayes", "search"):
            if metric.kind != "linear" or by_group:
                raise ValueError(f"method is {method!r}, which needs a linear metric that does not compare groups")
            rewards, _ = predictions.bayes_rule(metric._core)
            if method == "search":
                _, rewards, _ = predictions.tune(metric._core, rewards, [])
            matrix = np.asarray(rewards).reshape(1, k, k)
            self.value_ = metric.value(predictions.confusions([matrix])[0])
            self.rule_ = _Rewards(matrix)
        elif method == "frank_wolfe":
            self.rule_, self.notes_ = _frank_wolfe(
                y, probabilities, self.classes_, codes, len(self.group_names_), by_group, metric, self.iterations
            )
            estimate = self.classes_[self.rule_(probabilities, codes)]
            groups = sensitive_features if compares else None
            counts = confusion_counts(y, estimate, labels=self.classes_, sensitive_features=groups)
            self.value_ = metric.value(counts)
        else:
            raise ValueError(f"method is {method!r}, expected 'auto', 'bayes', 'search' or 'frank_wolfe'")
        self.method_ = method


class BlackBoxClassifier(_PostProcessor):
    """A model shifted to maximise a metric that can only be called.

    Frank-Wolfe with elicited gradients: the metric is evaluated at predictions near the current ones, and its changes
    give the weights of the next rule.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    metric : callable, optional
        ``metric(y_true, y_soft)`` with one row of class shares per case in ``y_soft``; larger is better. It should
        change smoothly with them. By default the expected accuracy.
    per_group : bool
        Whether groups may have rules of their own.
    iterations : int
        Of Frank-Wolfe.
    prefit, cv, random_state
        As for :class:`ThresholdClassifier`.

    Attributes
    ----------
    value_ : float
        The metric on the held-out rows.
    calls_ : int
        How often it was called.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from equipoise import BlackBoxClassifier
    >>> def g_mean(y_true, y_soft):
    ...     return np.sqrt(y_soft[y_true == 0, 0].mean() * y_soft[y_true == 1, 1].mean())
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> model = BlackBoxClassifier(metric=g_mean).fit(X, y)
    >>> bool(model.value_ > g_mean(y, np.eye(2)[model.estimator_.predict(X)]))
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        metric: Callable[[NDArray[Any], NDArray[np.float64]], float] | None = None,
        *,
        per_group: bool = False,
        iterations: int = 20,
        prefit: bool = False,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.per_group = per_group
        self.iterations = iterations
        self.prefit = prefit
        self.cv = cv
        self.random_state = random_state

    def _choose(self, y: Any, probabilities: Any, sensitive_features: Any, codes: NDArray[np.uint16] | None) -> None:
        metric = _expected_accuracy(self.classes_) if self.metric is None else self.metric
        self.calls_ = 0

        def judge(soft: NDArray[np.float64]) -> float:
            self.calls_ += 1
            return float(metric(y, soft))

        by_group = self.per_group and len(self.group_names_) > 1
        self.rule_, self.notes_ = _frank_wolfe(
            y, probabilities, self.classes_, codes, len(self.group_names_), by_group, judge, self.iterations
        )
        self.value_ = judge(np.eye(len(self.classes_))[self.rule_(probabilities, codes)])


def _expected_accuracy(classes: NDArray[Any]) -> Callable[[NDArray[Any], NDArray[np.float64]], float]:
    def value(y_true: NDArray[Any], y_soft: NDArray[np.float64]) -> float:
        return float((y_soft * (y_true[:, np.newaxis] == classes)).sum(axis=1).mean())

    return value


def _frank_wolfe(
    y: Any,
    probabilities: NDArray[np.float64],
    classes: NDArray[Any],
    codes: NDArray[np.uint16] | None,
    groups: int,
    by_group: bool,
    metric: Metric | Callable[[NDArray[np.float64]], float],
    iterations: int,
) -> tuple[_Votes, list[str]]:
    """The rule, and what a reader should know."""
    (labels,), numbers, _ = _inputs.coded({"y": y}, list(classes))
    columns = [np.ascontiguousarray(column) for column in probabilities.T]
    judge = metric._core if isinstance(metric, Metric) else metric
    truth = _inputs.places(labels, numbers, "y")
    count = _checks.whole(iterations, "iterations", 1)
    document, notes = _core.frank_wolfe(columns, truth, judge, codes, max(groups, 1), by_group, count)
    return _Votes(document), notes
