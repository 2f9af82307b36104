"""Classifiers for scikit-learn that make the best of a model's probabilities for a metric, without training it anew.

All wrap an estimator with ``predict_proba``, or two classes with ``decision_function``. With ``prefit=True`` it is used as it is;
otherwise its probabilities are predicted on held-out folds, so that the rule is not chosen on rows the model has seen, and the
model is then fitted to all rows. ``predict`` is deterministic, except for rules that are asked to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _clone_parametrized, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _checks, _core, _held_out, _inputs, _names, _predictions, _randomised
from ._rules import Draws, Floats, Groups, Rewards, Rule, Thresholds, Votes
from .metric import Metric
from .scoring import metric_value
from .thresholds import ThresholdAdvice, best_threshold

#: Values of a metric in closed form that a search for a rule that draws asks for, so many at a time.
_VALUES, _BATCH = 40_000, 200
#: Calls of a function that it makes where nobody says otherwise.
_CALLS = 300


def _has_scores(model: _PostProcessor) -> bool:
    return model._may_have_scores and hasattr(getattr(model, "rule_", Thresholds), "scores")


def _has_probabilities(model: _PostProcessor) -> bool:
    return hasattr(model.estimator_ if hasattr(model, "rule_") else model._model(), "predict_proba")


class _PostProcessor(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What all have in common: probabilities on held-out rows, groups, and a rule on both."""

    _only_two = False
    _may_have_scores = True
    pos_label: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> Any:
        """Fits the model unless it is fitted already, and chooses the rule.

        Parameters
        ----------
        X : array or data frame of shape (rows, features)
        y : column of labels
        sample_weight : column of numbers, optional
            For the model, where it takes weights (otherwise a warning says that it does not), and for the rule.
        sensitive_features : column, data frame or dict of columns, or the name of a column of X, optional
            The groups, in place of the columns of X that the estimator was made with; a rule that depends on them needs them
            in :meth:`predict` too.

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
        weights = _inputs.weights(sample_weight, len(labels))
        probabilities = self._probabilities(X, labels, weights)
        by_name = isinstance(self.metric, Metric)
        names, group_names = _names.of(self.metric) if by_name else (None, None)
        self._order = self._class_order(names)
        groups = _inputs.columns_of(X, self.sensitive_features if sensitive_features is None else sensitive_features)
        codes, self.group_names_ = _inputs.groups(groups, len(labels), group_names)
        self._choose(labels, probabilities[:, self._order], groups, codes, weights)
        return self

    def _class_order(self, names: list[str] | None) -> list[int]:
        """The places of the classes as the rule has them: those of the metric's names, or the positive one at the end."""
        order = _names.order(names, self.classes_.tolist())
        if self.pos_label is None:
            return order
        classes = self.classes_.tolist()
        if self.pos_label not in classes:
            raise ValueError(f"pos_label is {self.pos_label!r}, expected one of {classes}")
        last = classes.index(self.pos_label)
        if names is not None and order[-1] != last:
            raise ValueError(f"pos_label is {self.pos_label!r}, but the positive class of the metric is {names[-1]!r}")
        return [n for n in order if n != last] + [last]

    @property
    def _ordered(self) -> NDArray[Any]:
        """The classes as the rule has them."""
        classes: NDArray[Any] = self.classes_[self._order]
        return classes

    def _probabilities(self, X: Any, y: NDArray[Any], weights: Floats | None) -> Floats:
        """Class probabilities of rows the model has not been fitted to, and the model fitted to all of them."""
        model = self.estimator if self.estimator is not None else LogisticRegression()
        self._response = _held_out.response(model, self.response_method)
        if self.prefit:
            check_is_fitted(model)
            self.estimator_ = model
            self.classes_ = np.asarray(model.classes_)
            found = np.asarray(getattr(model, self._response)(X), dtype=np.float64)
        else:
            folds = check_cv(self.cv, y, classifier=True)
            if hasattr(folds, "shuffle") and self.random_state is not None:
                folds.shuffle, folds.random_state = True, check_random_state(self.random_state).randint(2**31 - 1)
            self.estimator_ = _held_out.fitted(clone(model), X, y, weights)
            self.classes_ = np.asarray(self.estimator_.classes_)
            if len(self.classes_) < 2:
                raise ValueError("y has 1 class, expected at least 2 classes")
            found = _held_out.predictions(model, X, y, weights, folds, self.n_jobs, self._response, self.classes_)
        self._scale = None
        if self._response == "decision_function":
            if found.ndim > 1:
                raise ValueError("decision_function is for 2 classes; a model with predict_proba serves more")
            self._scale = _held_out.Scale(found)
        return self._as_probabilities(found)

    def _as_probabilities(self, found: Floats) -> Floats:
        """Scores of two classes become numbers from 0 to 1 in their order."""
        if self._scale is None:
            return found
        between = self._scale.to_unit(found)
        return np.column_stack([1.0 - between, between])

    def _choose(
        self, y: Any, probabilities: Floats, groups: Any, codes: Groups | None, weights: Floats | None
    ) -> None:
        raise NotImplementedError

    def _seen(self, X: Any, sensitive_features: Any) -> tuple[Floats, Groups | None]:
        """What the rule decides on."""
        check_is_fitted(self, "rule_")
        found = np.asarray(getattr(self.estimator_, self._response)(X), dtype=np.float64)
        groups = None
        if self.group_names_:
            groups = _inputs.columns_of(X, self.sensitive_features if sensitive_features is None else sensitive_features)
        codes = None if groups is None else _group_places(groups, self.group_names_, len(found))
        return self._as_probabilities(found)[:, self._order], codes

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NDArray[Any]:
        """The classes of rows; needs ``sensitive_features`` where the rule depends on groups."""
        probabilities, codes = self._seen(X, sensitive_features)
        classes: NDArray[Any] = self._ordered[self.rule_(probabilities, codes)]
        return classes

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The model's own probabilities; the rule decides on them, it does not change them."""
        check_is_fitted(self, "rule_")
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    @available_if(_has_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> Floats:
        """What the rule compares: of two classes, how far the second one in ``classes_`` is beyond its threshold (it is
        predicted where this is above 0); of more, the expected reward of each. Rules that vote or draw have none."""
        probabilities, codes = self._seen(X, sensitive_features)
        scores: Floats = self.rule_.scores(probabilities, codes)[:, np.argsort(self._order)]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _model(self) -> Any:
        return self.estimator if self.estimator is not None else LogisticRegression()

    @property
    def n_features_in_(self) -> int:
        """How many features the model has seen."""
        check_is_fitted(self, "estimator_")
        count: int = self.estimator_.n_features_in_
        return count

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features the model has seen, where they had names."""
        check_is_fitted(self, "estimator_")
        names: NDArray[Any] = self.estimator_.feature_names_in_
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rule_")

    def __sklearn_clone__(self) -> Any:
        """A copy that is not fitted; a model that came fitted stays as it is, in cross-validation too."""
        copy = _clone_parametrized(self)
        if self.prefit:
            copy.estimator = self.estimator
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._only_two
        tags.input_tags.sparse = get_tags(self._model()).input_tags.sparse
        return tags


def _group_places(sensitive_features: Any, names: list[str], rows: int) -> Groups:
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
        The metric, or its name (see :meth:`Metric.named`). One that names its classes finds them by name, and refuses others.
    pos_label : label, optional
        The positive class, where the metric names none; by default the last in order.
    threshold : {"measured", "bayes", "advised"}
        The best threshold on the held-out rows, the one theory gives for calibrated probabilities, or whichever of
        them :func:`best_threshold` advises.
    per_group : bool
        A threshold for every group of ``sensitive_features``, which ``predict`` then needs too.
    requirements : sequence of str
        What the rule must keep on the held-out rows, such as ``"recall:1>=0.9"``, ``"fpr:1@women<=0.1"``, or between groups
        ``"gap:recall:1<=0.05"``.
    sensitive_features : name of a column of X, list of names, or number, optional
        Where the groups are, so that cross-validation and searches find them; ``fit`` and ``predict`` take others. The model sees
        the column too, unless its pipeline drops it.
    response_method : {"auto", "predict_proba", "decision_function"}
        What the threshold is on; by default probabilities where the model has them.
    prefit : bool
        Whether the estimator is fitted already; then ``fit`` should get rows it has not seen. It stays fitted in
        cross-validation too, as ``FrozenEstimator`` of scikit-learn does.
    cv : int or splitter, optional
        How rows are held out where it is not.
    n_jobs : int, optional
        How many folds are fitted at a time.
    random_state : int, optional
        Shuffles the folds.

    Attributes
    ----------
    threshold_ : float
        The threshold, where there is one for all. Of several that are best on the rows it is theory's, if that is one.
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
        pos_label: Any = None,
        threshold: str = "measured",
        per_group: bool = False,
        requirements: Sequence[str] = (),
        sensitive_features: Any = None,
        response_method: str = "auto",
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.pos_label = pos_label
        self.threshold = threshold
        self.per_group = per_group
        self.requirements = requirements
        self.sensitive_features = sensitive_features
        self.response_method = response_method
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _choose(
        self, y: Any, probabilities: Floats, groups: Any, codes: Groups | None, weights: Floats | None
    ) -> None:
        if self.threshold not in ("measured", "bayes", "advised"):
            raise ValueError(f"threshold is {self.threshold!r}, expected 'measured', 'bayes' or 'advised'")
        if len(self.classes_) != 2:
            raise ValueError(f"y has {len(self.classes_)} classes, expected 2")
        if self.per_group and len(self.group_names_) < 2:
            raise ValueError("per_group needs sensitive_features with at least 2 groups")
        if self.per_group and self.threshold != "measured":
            raise ValueError(f"threshold is {self.threshold!r}, but thresholds per group are 'measured'")
        read = _predictions.read(
            y, probabilities, labels=self._ordered, sensitive_features=groups, sample_weight=weights, metric=self.metric
        )
        if self.per_group:
            metric = Metric._meant(self.metric, read.core.shares())
            found, _, _ = read.core.best_thresholds(metric._core, list(self.requirements), True)
        else:
            found = [self._one(y, probabilities, groups, weights)]
        self.rule_: Rule = Thresholds(found)
        if self._scale is not None:
            found = [self._scale.from_unit(t, self._order == [1, 0]) for t in found]
        if self.per_group:
            self.thresholds_ = dict(zip(self.group_names_, found, strict=True))
        else:
            self.threshold_ = float(found[0])

    def _one(self, y: Any, probabilities: Floats, groups: Any, weights: Floats | None) -> float:
        """The threshold for all."""
        if self._scale is not None and self.threshold != "measured":
            raise ValueError(f"threshold is {self.threshold!r}, which needs probabilities; 'measured' takes any scores")
        advice = best_threshold(
            y, probabilities, metric=self.metric, requirements=self.requirements, labels=self._ordered,
            sensitive_features=groups, sample_weight=weights, draws=200 if self.threshold == "advised" else 0,
        )  # fmt: skip
        if self.threshold == "advised":
            return advice.threshold
        if self.threshold == "bayes" and advice.bayes is None:
            raise ValueError("theory has no threshold for this metric; threshold='measured' finds the best one")
        if advice.measured is None:
            raise ValueError(advice.because)
        if advice.bayes is not None and self._scale is None and (self.threshold == "bayes" or _is_as_good(advice)):
            return advice.bayes
        return advice.measured


def _is_as_good(advice: ThresholdAdvice) -> bool:
    """Whether theory's threshold is among the best ones on the rows; then there is no reason to prefer another."""
    if advice.document["bayes_misses"] or advice.bayes_value is None or advice.measured_value is None:
        return False
    return abs(advice.bayes_value - advice.measured_value) <= 1e-12 * max(1.0, abs(advice.measured_value))


class PostShiftClassifier(_PostProcessor):
    """A model of any number of classes, shifted to make the best of a metric of any family.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    metric : Metric or str
        The metric, or its name. One that compares groups needs ``sensitive_features``. Classes and groups that it names are
        found by name.
    pos_label : label, optional
        The positive one of two classes, where the metric names none; by default the last in order.
    method : {"auto", "bayes", "search", "frank_wolfe"}
        ``bayes`` is the rule that is best for a linear metric where probabilities are calibrated. ``search`` is exact
        for two classes: every threshold is tried (per group, if there are groups and the metric compares them); for
        more classes it looks for better weights of the classes around the Bayes rule. ``frank_wolfe`` works for
        every metric that has a gradient (FW-EG, with a weight per class and group). ``auto`` searches for two classes
        and for linear metrics, and takes Frank-Wolfe otherwise.
    per_group : bool
        Whether groups may have rules of their own where the metric does not ask for it.
    requirements : sequence of str
        What ``search`` must keep, as for :class:`ThresholdClassifier`.
    randomize : bool
        Whether the rule of two classes may draw, per group if groups may differ: rates that no thresholds have, such as equal
        ones in groups whose curves differ, are then in reach. ``predict`` draws with ``random_state``.
    iterations : int
        Of Frank-Wolfe.
    sensitive_features, response_method, prefit, cv, n_jobs, random_state
        As for :class:`ThresholdClassifier`. The seed is that of a rule that draws, too.

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
        pos_label: Any = None,
        method: str = "auto",
        per_group: bool = False,
        requirements: Sequence[str] = (),
        randomize: bool = False,
        iterations: int = 20,
        sensitive_features: Any = None,
        response_method: str = "auto",
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.pos_label = pos_label
        self.method = method
        self.per_group = per_group
        self.requirements = requirements
        self.randomize = randomize
        self.iterations = iterations
        self.sensitive_features = sensitive_features
        self.response_method = response_method
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _choose(
        self, y: Any, probabilities: Floats, groups: Any, codes: Groups | None, weights: Floats | None
    ) -> None:
        read = _predictions.read(
            y, probabilities, labels=self._ordered, sensitive_features=groups, sample_weight=weights, metric=self.metric
        )
        predictions, k = read.core, len(self.classes_)
        metric = Metric._meant(self.metric, predictions.shares())
        compares = metric._core.group_count > 1
        if compares and metric._core.group_count != len(self.group_names_):
            count = metric._core.group_count
            raise ValueError(f"the metric compares {count} groups, but sensitive_features have {len(self.group_names_)}")
        by_group = (compares or self.per_group) and len(self.group_names_) > 1
        method = self.method
        if method == "auto":
            method = "search" if k == 2 or (metric.kind == "linear" and not by_group) else "frank_wolfe"
        requirements = _checks.words(self.requirements, "requirements")
        if self.randomize and (k > 2 or method != "search"):
            raise ValueError(f"randomize is for the method 'search' of 2 classes, but y has {k} and method is {method!r}")
        if requirements and method != "search":
            raise ValueError(f"requirements are for the method 'search', but method is {method!r}")
        if self._scale is not None and (k > 2 or method != "search"):
            raise ValueError(f"method is {method!r}, which needs probabilities, but the model has decision_function only")
        if method == "search" and k == 2:
            found, self.value_, _ = predictions.best_thresholds(metric._core, requirements, by_group)
            self.rule_: Rule = Thresholds(found)
            if self.randomize:
                self._draw(y, probabilities, read, metric, requirements, codes, by_group, weights)
        elif method in ("bayes", "search"):
            if metric.kind != "linear" or by_group:
                raise ValueError(f"method is {method!r}, which needs a linear metric that does not compare groups")
            rewards, _ = predictions.bayes_rule(metric._core)
            matrix = np.asarray(rewards).reshape(1, k, k)
            self.value_ = metric.value(predictions.confusions([matrix])[0])
            if method == "search":
                _, rewards, value = predictions.tune(metric._core, rewards, requirements)
                # Where theory's rule is among the best, there is no reason to prefer another.
                if requirements or abs(value - self.value_) > 1e-12 * max(1.0, abs(value)):
                    matrix, self.value_ = np.asarray(rewards).reshape(1, k, k), value
            self.rule_ = Rewards(matrix)
        elif method == "frank_wolfe":
            self.rule_, self.notes_ = _frank_wolfe(
                y, probabilities, self._ordered, codes, len(self.group_names_), by_group, metric, self.iterations,
                weights=weights,
            )  # fmt: skip
            estimate = self._ordered[self.rule_(probabilities, codes)]
            self.value_ = metric_value(
                y, estimate, metric=metric, labels=self._ordered, sensitive_features=groups if compares else None,
                sample_weight=weights,
            )  # fmt: skip
        else:
            raise ValueError(f"method is {method!r}, expected 'auto', 'bayes', 'search' or 'frank_wolfe'")
        self.method_ = method

    def _draw(
        self, y: Any, probabilities: Floats, read: _predictions.Read, metric: Metric, requirements: list[str],
        codes: Groups | None, by_group: bool, weights: Floats | None,
    ) -> None:  # fmt: skip
        """A rule that draws, where that is better than the thresholds."""
        truth = (np.asarray(y) == self._ordered[1]).astype(np.float64)
        count = len(self.group_names_) if by_group else 1
        hulls = _randomised.hulls(truth, probabilities[:, 1], codes if by_group else None, count, weights)
        shares = np.asarray(read.core.shares())
        sign = 1.0 if metric.greater_is_better else -1.0

        def values(points: Floats) -> Floats:
            hit, alarm = (np.broadcast_to(rate, (len(points), len(shares))) for rate in _randomised.rates(points))
            negative, positive = shares[:, 0], shares[:, 1]
            top = np.stack([negative * (1.0 - alarm), negative * alarm], axis=-1)
            low = np.stack([positive * (1.0 - hit), positive * hit], axis=-1)
            counts = np.ascontiguousarray(np.stack([top, low], axis=-2))
            found = sign * metric._core.values(counts)
            # What misses a requirement is worse than all that does not.
            return found - 1e6 * read.core.violations(requirements, counts) if requirements else found

        place, value = _randomised.best(hulls, values, _VALUES, _BATCH)
        if value > sign * self.value_:
            self.rule_, self.value_ = _randomised.rule(hulls, place, _seed(self.random_state)), sign * value


def _seed(random_state: Any) -> int | None:
    return None if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))


class BlackBoxClassifier(_PostProcessor):
    """A model shifted to maximise a metric that can only be called.

    Frank-Wolfe with elicited gradients: the metric is evaluated at predictions near the current ones, and its changes
    give the weights of the next rule. A direct search by values alone follows; the better result is kept. With two classes and one
    rule for all rows that is a threshold, which some thirty values find.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        By default a logistic regression.
    metric : callable, optional
        ``metric(y_true, y_soft)`` with one row of class shares per case in ``y_soft``; larger is better. It should
        change smoothly with them. Where ``fit`` gets weights, it gets them as ``sample_weight``. By default the expected
        accuracy.
    per_group : bool
        Whether groups may have rules of their own.
    iterations : int
        Of Frank-Wolfe.
    max_calls : int, optional
        How often the metric may be called in all. Half of the calls are for Frank-Wolfe, which then makes fewer iterations if it
        must; the rest are for a direct search over the weights of the classes, of which 300 calls are made by default.
    randomize : bool
        Whether the rule of two classes may draw, as for :class:`PostShiftClassifier`; all calls are then for its search.
    sensitive_features, response_method, prefit, cv, n_jobs, random_state
        As for :class:`ThresholdClassifier`. The seed is that of a rule that draws, too.

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

    _may_have_scores = False

    def __init__(
        self,
        estimator: Any = None,
        metric: Callable[[NDArray[Any], Floats], float] | None = None,
        *,
        per_group: bool = False,
        iterations: int = 20,
        max_calls: int | None = None,
        randomize: bool = False,
        sensitive_features: Any = None,
        response_method: str = "auto",
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.per_group = per_group
        self.iterations = iterations
        self.max_calls = max_calls
        self.randomize = randomize
        self.sensitive_features = sensitive_features
        self.response_method = response_method
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _choose(
        self, y: Any, probabilities: Floats, groups: Any, codes: Groups | None, weights: Floats | None
    ) -> None:
        if self._scale is not None:
            raise ValueError("the metric is called with probabilities, but the model has decision_function only")
        # Refused whichever search is made.
        _checks.whole(self.iterations, "iterations", 1)
        metric = _expected_accuracy(self.classes_) if self.metric is None else self.metric
        options = {} if weights is None else {"sample_weight": weights}
        self.calls_ = 0

        def judge(soft: Floats) -> float:
            self.calls_ += 1
            return float(metric(y, soft, **options))

        by_group = self.per_group and len(self.group_names_) > 1
        self.rule_: Rule
        self.notes_: list[str]
        if self.randomize:
            self._draw(y, probabilities, judge, codes, by_group, weights)
            return
        if len(self.classes_) == 2 and not by_group:
            most = _CALLS if self.max_calls is None else _checks.whole(self.max_calls, "max_calls", 10)
            threshold, self.value_ = _best_cut(probabilities[:, 1], judge, most)
            self.rule_, self.notes_ = Thresholds([threshold]), []
            return
        self.rule_, self.notes_ = _frank_wolfe(
            y, probabilities, self.classes_, codes, len(self.group_names_), by_group, judge, self.iterations, self.max_calls,
            weights,
        )  # fmt: skip
        self.value_ = judge(np.eye(len(self.classes_))[self.rule_(probabilities, codes)])

    def _draw(
        self, y: Any, probabilities: Floats, judge: Callable[[Floats], float], codes: Groups | None, by_group: bool,
        weights: Floats | None,
    ) -> None:  # fmt: skip
        """The best rule that draws, by the values of the metric; the model as it is, where that is better."""
        if len(self.classes_) != 2:
            raise ValueError(f"randomize is for 2 classes, but y has {len(self.classes_)}")
        truth = (np.asarray(y) == self.classes_[1]).astype(np.float64)
        groups = codes if by_group else None
        hulls = _randomised.hulls(truth, probabilities[:, 1], groups, len(self.group_names_), weights)
        seed = _seed(self.random_state)

        def value(rule: Draws) -> float:
            chances = rule.chances(probabilities, groups)
            found = judge(np.column_stack([1.0 - chances, chances]))
            if not np.isfinite(found):
                raise ValueError(f"the metric is {found}, expected a finite number")
            return found

        model = Draws([([0.5], [0.0, 1.0])] * len(hulls), seed)
        before = value(model)
        most = _CALLS if self.max_calls is None else _checks.whole(self.max_calls, "max_calls", 10)
        ask = lambda points: np.array([value(_randomised.rule(hulls, point, seed)) for point in points])  # noqa: E731
        place, self.value_ = _randomised.best(hulls, ask, most - 1, 1)
        self.rule_, self.notes_ = _randomised.rule(hulls, place, seed), []
        if before >= self.value_:
            self.rule_, self.value_ = model, before


#: Thresholds that are tried first, evenly spaced among the rows; the best of them and its neighbours are looked into.
_FIRST_CUTS = 13


def _best_cut(scores: Floats, judge: Callable[[Floats], float], most: int) -> tuple[float, float]:
    """The threshold of two classes with the best value, by some thirty calls, and the value; never worse than one half.

    Evenly spaced cuts first; between the neighbours of the best one the golden section, which a metric that rises and falls once
    around its best needs no more than.
    """
    at = np.unique(scores)
    cuts = np.concatenate([[at[0]], (at[1:] + at[:-1]) / 2.0, [2.0]])
    known: dict[int, float] = {}
    asked = 1
    said = _hard(judge, scores >= 0.5)
    best = (0.5, said if np.isfinite(said) else -np.inf)

    def value(n: int) -> float:
        nonlocal asked, best
        if n not in known:
            if asked >= most:
                return -np.inf
            asked += 1
            found = _hard(judge, scores >= cuts[n])
            # Precision where nothing is predicted, say: not a rule to choose, but no reason to stop.
            known[n] = found if np.isfinite(found) else -np.inf
            if known[n] > best[1]:
                best = (float(cuts[n]), known[n])
        return known[n]

    first = np.unique(np.linspace(0, len(cuts) - 1, _FIRST_CUTS).round().astype(int))
    top = max(range(len(first)), key=lambda n: value(int(first[n])))
    low, high = int(first[max(top - 1, 0)]), int(first[min(top + 1, len(first) - 1)])
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    while high - low > 2 and asked < most:
        left, right = round(high - golden * (high - low)), round(low + golden * (high - low))
        right = max(right, left + 1)
        if value(left) >= value(right):
            high = right
        else:
            low = left
    for n in range(low, high + 1):
        value(n)
    if not np.isfinite(best[1]):
        raise ValueError(f"the metric is {said}, expected a finite number")
    return best


def _hard(judge: Callable[[Floats], float], accepted: NDArray[np.bool_]) -> float:
    """The value of predictions that are certain."""
    return judge(np.eye(2)[accepted.astype(np.int64)])


def _expected_accuracy(classes: NDArray[Any]) -> Callable[[NDArray[Any], Floats], float]:
    def value(y_true: NDArray[Any], y_soft: Floats, sample_weight: Floats | None = None) -> float:
        return float(np.average((y_soft * (y_true[:, np.newaxis] == classes)).sum(axis=1), weights=sample_weight))

    return value


def _frank_wolfe(
    y: Any,
    probabilities: Floats,
    classes: NDArray[Any],
    codes: Groups | None,
    groups: int,
    by_group: bool,
    metric: Metric | Callable[[Floats], float],
    iterations: int,
    max_calls: int | None = None,
    weights: Floats | None = None,
) -> tuple[Votes, list[str]]:
    """The rule, and what a reader should know."""
    (labels,), numbers, _ = _inputs.coded({"y": y}, list(classes))
    columns = [np.ascontiguousarray(column) for column in probabilities.T]
    judge = metric._core if isinstance(metric, Metric) else metric
    truth = _inputs.places(labels, numbers, "y")
    count = _checks.whole(iterations, "iterations", 1)
    # The value of the result is one more call.
    calls = None if max_calls is None else _checks.whole(max_calls, "max_calls", 10) - 1
    document, notes = _core.frank_wolfe(columns, truth, judge, codes, max(groups, 1), by_group, count, calls, weights)
    return Votes(document), notes
