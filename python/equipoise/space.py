"""What classifiers can be built: the set questions are asked about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _names, _predictions

if TYPE_CHECKING:
    from ._elsewhere import Source
    from ._engines import Engine
    from .metric import Metric
    from .ranking import Ranking
    from .thresholds import DecisionCurve, ThresholdAdvice


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
        predictions: _core.Predictions | _core.Elsewhere | None = None,
        classes: list[Any] | None = None,
        groups: list[str] | None = None,
        shares: list[list[float]] | None = None,
        source: Source | None = None,
    ) -> None:
        if document is None and predictions is None:
            raise TypeError("a space needs a document or predictions")
        self._document = document
        self._predictions = predictions
        self.classes = classes
        self.groups = groups or []
        self._shares = shares or None
        self._source = source

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
    def from_sql(
        cls,
        connection: Any,
        *,
        table: str | Sequence[str] | None = None,
        query: str | None = None,
        truth: str,
        scores: Any,
        group: str | Sequence[str] | None = None,
        weight: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
    ) -> Space:
        """What predictions in a database allow, from counts: rows stay where they are.

        Parameters
        ----------
        connection : connection of DB-API 2 or ADBC
            Such as ``sqlite3``, ``duckdb`` and ``psycopg`` have. It is asked with SELECT only, and neither committed nor closed.
        table : str, or schema and name
            The table, or a view of it.
        query : str
            A SELECT instead of a table.
        truth : str
            The column of true classes.
        scores : str, list of str, or dict from class to column
            The column of the positive class's probabilities, or one column per class.
        group : str or list of str, optional
            The columns of groups; several are crossed.
        weight : str, optional
            The column of row weights.
        labels, pos_label
            As for :meth:`from_predictions`.

        Examples
        --------
        >>> import sqlite3
        >>> from equipoise import Space
        >>> connection = sqlite3.connect(":memory:")
        >>> _ = connection.execute("CREATE TABLE scored (ill TEXT, risk REAL)")
        >>> _ = connection.executemany("INSERT INTO scored VALUES (?, ?)", [("no", 0.2), ("yes", 0.4), ("no", 0.4), ("yes", 0.9)])
        >>> space = Space.from_sql(connection, table="scored", truth="ill", scores="risk")
        >>> space
        <Space of 4 predictions elsewhere, classes ['no', 'yes']>
        >>> space.best_threshold("accuracy", draws=0).measured
        0.65
        """
        from ._engines import Database

        return cls._elsewhere(Database(connection, table, query), truth, scores, group, weight, labels, pos_label)

    @classmethod
    def from_ibis(
        cls,
        table: Any,
        *,
        truth: str,
        scores: Any,
        group: str | Sequence[str] | None = None,
        weight: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
    ) -> Space:
        """The same for a table of Ibis, on whatever backend it is. The other parameters are those of :meth:`from_sql`."""
        from ._engines import Ibis

        return cls._elsewhere(Ibis(table), truth, scores, group, weight, labels, pos_label)

    @classmethod
    def from_lazy(
        cls,
        frame: Any,
        *,
        truth: str,
        scores: Any,
        group: str | Sequence[str] | None = None,
        weight: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
    ) -> Space:
        """The same for a LazyFrame of Polars, such as ``pl.scan_parquet`` makes, which is streamed and need not fit in memory."""
        from ._engines import Lazy

        return cls._elsewhere(Lazy(frame), truth, scores, group, weight, labels, pos_label)

    @classmethod
    def from_spark(
        cls,
        frame: Any,
        *,
        truth: str,
        scores: Any,
        group: str | Sequence[str] | None = None,
        weight: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
    ) -> Space:
        """The same for a data frame of Spark, whose cluster does the counting."""
        from ._engines import Spark

        return cls._elsewhere(Spark(frame), truth, scores, group, weight, labels, pos_label)

    @classmethod
    def _elsewhere(
        cls, engine: Engine, truth: str, scores: Any, group: Any, weight: str | None, labels: Any, pos_label: Any
    ) -> Space:
        from ._elsewhere import read

        found = read(engine, truth, scores, group, weight, labels, pos_label)
        return cls(None, predictions=found.core, classes=found.classes, groups=found.groups, source=found.source)

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

    def summary(self) -> dict[str, Any]:
        """What there is: rows, shares and calibration errors of the classes, groups, and how scores were counted."""
        core = self._asked()
        shares = np.asarray(core.shares())
        return {
            "rows": core.rows(),
            "classes": {
                label: {"share": float(share), "calibration_error": error}
                for label, share, error in zip(self.classes or [], shares.sum(axis=0), core.calibration(), strict=True)
            },
            "groups": dict(zip(self.groups, shares.sum(axis=1).tolist(), strict=False)),
            "scores": self._counted(),
        }

    def _counted(self) -> str:
        from ._elsewhere import BUCKETS

        if self._source is not None and self._source.buckets:
            return f"counted in {BUCKETS:,} parts of [0, 1]: more than that many are different"
        return "every different one is counted"

    def best_threshold(
        self,
        metric: Metric | str,
        *,
        requirements: Sequence[str] = (),
        per_group: bool = False,
        level: float = 0.95,
        draws: int = 200,
        random_state: int = 1,
    ) -> ThresholdAdvice:
        """The threshold on the positive class's probability that a metric wants, as :func:`best_threshold` finds it."""
        from dataclasses import replace

        from .thresholds import advised

        core = self._asked()
        self._fits(metric)
        found = advised(
            core, self.classes or [], self.groups, metric, requirements, per_group, level, draws, random_state
        )
        if self._source is not None and self._source.buckets:
            found = replace(found, warnings=[*found.warnings, f"scores are {self._counted()}, and thresholds are ends of parts"])
        return found

    def decision_curve(self, thresholds: Any = None) -> DecisionCurve:
        """What acting on probabilities gains over acting on everybody or nobody, as :func:`decision_curve` finds it."""
        from .thresholds import curve

        return curve(self._asked(), thresholds)

    def best_rule(self, metric: Metric | str, *, requirements: Sequence[str] = ()) -> tuple[NDArray[np.float64], float]:
        """A matrix of rewards (true class, estimated class) whose rule a metric likes, and its value on the rows.

        The rule predicts the class with the largest expected reward. It starts from what theory says for calibrated
        probabilities, or from the most likely class where theory says nothing, and is improved by weighing the classes.
        """
        core = self._asked()
        self._fits(metric)
        from .metric import Metric

        meant = Metric._meant(metric, core.shares())._core
        k = len(self.classes or [])
        start = core.bayes_rule(meant)[0] if meant.kind == "linear" else np.eye(k).ravel().tolist()
        _, rewards, value = core.tune(meant, start, _checks.words(requirements, "requirements"))
        return np.asarray(rewards).reshape(k, k), value

    def counts(
        self, model: str | None = None, *, threshold: float | None = None, rewards: Any = None
    ) -> NDArray[np.float64]:
        """Confusion counts by group, true class and estimated class.

        Parameters
        ----------
        model : str, optional
            The column of a model's labels, where the rows are elsewhere.
        threshold : float, optional
            From which probability on the positive one of two classes is predicted.
        rewards : matrix of numbers, optional
            As :meth:`best_rule` has it. By default the most likely class is predicted.
        """
        core, k = self._asked(), len(self.classes or [])
        if sum(given is not None for given in (model, threshold, rewards)) > 1:
            raise TypeError("expected one of model, threshold and rewards")
        if model is not None:
            measured, _ = self._labelled([model])
            return measured[0]
        if threshold is not None:
            shares = core.at_thresholds(_checks.numbers(threshold, "threshold").ravel()[:1].tolist())[0]
        else:
            matrix = np.eye(k) if rewards is None else _checks.numbers(rewards, "rewards")
            if matrix.shape != (k, k):
                raise ValueError(f"rewards have shape {matrix.shape}, expected {(k, k)}")
            shares = core.confusions([np.ascontiguousarray(matrix[np.newaxis])])[0]
        weight = core.weight()
        counted: NDArray[np.float64] = np.rint(shares * core.rows()) if weight is None else shares * weight
        return counted

    def score(self, metric: Metric | str, model: str | None = None, **rule: Any) -> float:
        """What a model or a rule is worth under a metric; larger is better, so a cost is negated. See :meth:`counts`."""
        from .metric import Metric

        self._fits(metric)
        counts = self.counts(model, **rule)
        meant = Metric._meant(metric, counts.sum(axis=2).tolist())
        return meant.value(counts) if meant.greater_is_better else -meant.value(counts)

    def rank(
        self, models: Sequence[str], *, metric: Metric | str, level: float = 0.95, draws: int = 1000, random_state: int = 0
    ) -> Ranking:
        """Ranks models by columns of their labels, as :func:`rank_models` does with rows in memory.

        Rows that agree in class, group and all labels are one count, so that drawing the counts again is drawing the rows again.
        """
        from .ranking import drawn_cells, drawn_rates, ranked

        draws, seed = _checks.whole(draws, "draws"), _checks.whole(random_state, "random_state")
        names = _checks.words(models, "models")
        if not names:
            raise ValueError("models are empty, expected at least one column of labels")
        self._fits(metric)
        measured, cells = self._labelled(names)
        if cells is None:
            how = "Intervals: each model is drawn by itself (Dirichlet on its counts); there are too many different labels to pair them."
            resampled = drawn_rates(measured, draws, seed)
        else:
            how = f"Intervals: rows are drawn again together (multinomial over {len(cells.rows)} counts)."
            rows = int(cells.rows.sum())
            share = cells.rows / rows
            weight = np.ones(len(share)) if cells.weights is None else cells.weights / (share * rows)
            codes = cells.codes.T
            resampled = drawn_cells(codes[:-1], codes[-1], share, rows, weight, measured[0].shape, draws, seed)
        return ranked(names, measured, resampled, metric, draws, seed, _checks.level(level), how)

    def _labelled(self, models: list[str]) -> tuple[list[NDArray[np.float64]], Any]:
        """The counts of models, and the cells they are from; None where these are too many."""
        if self._source is None:
            raise ValueError("columns of labels are read where rows are elsewhere: Space.from_sql; rank_models takes the labels themselves")
        cells = self._source.cells(models)
        k, groups = len(self.classes or []), max(len(self.groups), 1)
        measured = []
        for n, model in enumerate(models):
            # Together they are too many; a model by itself has few.
            own = cells if cells is not None else self._source.cells([model])
            if own is None:
                raise ValueError(f"column {model!r} has too many different values, expected labels")
            at = own.codes.T
            counts = np.zeros((groups, k, k))
            np.add.at(counts, (at[-1], at[0], at[1 + n if cells is not None else 1]), own.rows if own.weights is None else own.weights)
            measured.append(counts)
        return measured, cells

    def _asked(self) -> _core.Predictions | _core.Elsewhere:
        if self._predictions is None:
            raise ValueError("this needs predictions, and a law has none: Space.from_predictions and Space.from_sql have them")
        return self._predictions

    def _fits(self, metric: Metric | str) -> None:
        """A metric that names its classes and groups must name them in the order that the space has."""
        classes, groups = _names.of(metric)
        for names, found, what in ((classes, self.classes or [], "classes"), (groups, self.groups, "groups")):
            if names is not None and _names.order(names, found, what) != list(range(len(found))):
                helps = "; pos_label= or labels= give the space another order" if what == "classes" else ""
                raise ValueError(f"the metric has the {what} {', '.join(names)}, the space {', '.join(map(str, found))}{helps}")

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
        where = "" if self._source is None else " elsewhere"
        return f"<Space of {self._predictions.rows()} predictions{where}, classes {self.classes}{groups}>"
