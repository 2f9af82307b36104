"""Fronts from the tools that make them, ready for :func:`equipoise.choose`.

Each door opens in one line: ``choose(doors.from_optuna(study))``. The libraries are imported when a door is opened, and files are
read without the tools that wrote them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from . import _checks, _table


@dataclass(frozen=True)
class Front:
    """Candidates with their attributes, and what is known of both; :func:`equipoise.choose` takes it.

    Examples
    --------
    >>> from equipoise import choose, doors
    >>> front = doors.Front({"model": ["a", "b"], "recall": [0.8, 0.9]}, "model", maximize=["recall"])
    >>> front = front.with_column("price", {"a": 1, "b": 3}, "minimize")
    >>> choose(front)
    <Choice among 2 candidates, open, 0 of about ... questions answered>
    """

    #: A column per attribute, with a value per candidate.
    columns: dict[str, list[Any]]
    #: The column of names.
    name: str | None = None
    minimize: list[str] = field(default_factory=list)
    maximize: list[str] = field(default_factory=list)
    #: What each candidate is in the tool it comes from, by row: a trial, a predictor, the id of a run, ...
    items: list[Any] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    def with_column(
        self, name: str, values: Sequence[Any] | Mapping[str, Any], direction: Literal["minimize", "maximize"] | None = None
    ) -> Front:
        """The same with one more attribute, such as a price that the tool does not know.

        Parameters
        ----------
        name : str
        values : sequence, or dict by the names of the candidates
        direction : {"minimize", "maximize"}, optional
            Which way is better, where the name does not say it.
        """
        if direction not in (None, "minimize", "maximize"):
            raise ValueError(f"direction is {direction!r}, expected 'minimize' or 'maximize'")
        _checks.instance(name, str, "name")
        if isinstance(values, Mapping):
            known = [] if self.name is None else self.columns[self.name]
            missing = [one for one in known if one not in values]
            if missing or self.name is None:
                what = f"no value for {missing[0]!r}" if missing else "values by name, but the front has no names"
                raise ValueError(f"{name} has {what}, expected a value per candidate")
            values = [values[one] for one in known]
        found = _table._values(values, name)
        if len(found) != len(self):
            raise ValueError(f"{name} has {len(found)} values, expected {len(self)}, one per candidate")
        less = [*self.minimize, name] if direction == "minimize" else self.minimize
        more = [*self.maximize, name] if direction == "maximize" else self.maximize
        return replace(self, columns={**self.columns, name: found}, minimize=less, maximize=more)

    def _repr_html_(self) -> str:
        from ._html import grid, page

        ways = {**dict.fromkeys(self.minimize, "less is better"), **dict.fromkeys(self.maximize, "more is better")}
        head = [f"{name} ({ways[name]})" if name in ways else name for name in self.columns]
        cells = [[f"{x:.6g}" if isinstance(x, float) else str(x) for x in row] for row in zip(*self.columns.values(), strict=True)]
        return page(f"{len(self)} candidates", [], grid(head, cells[:20]))


def from_optuna(study: Any, *, names: Sequence[str] | None = None) -> Front:
    """The Pareto front of an Optuna study with several objectives: ``study.best_trials``, with the study's directions.

    Parameters
    ----------
    study : optuna.study.Study
    names : list of str, optional
        What the objectives are called, by default what ``study.set_metric_names`` said, or ``objective 0``, ``objective 1``, ...

    Returns
    -------
    Front
        Its ``items`` are the trials.
    """
    directions = [direction.name for direction in study.directions]
    if len(directions) < 2:
        raise ValueError("the study has one objective, expected several; its best trial is study.best_trial")
    given = names if names is not None else getattr(study, "metric_names", None)
    called = [f"objective {n}" for n in range(len(directions))] if given is None else _checks.words(given, "names")
    if len(called) != len(directions):
        raise ValueError(f"names has {len(called)} names, expected {len(directions)}, one per objective of the study")
    trials = list(study.best_trials)
    columns: dict[str, list[Any]] = {"trial": [f"trial {trial.number}" for trial in trials]}
    columns.update((name, [trial.values[n] for trial in trials]) for n, name in enumerate(called))
    less = [name for name, way in zip(called, directions, strict=True) if way == "MINIMIZE"]
    more = [name for name in called if name not in less]
    return Front(columns, "trial", less, more, trials)


def from_fairlearn(
    grid: Any, X: Any, y: Any, *, sensitive_features: Any, metrics: Mapping[str, Any] | None = None
) -> Front:
    """The predictors of a fitted fairlearn ``GridSearch``, by what they do on some rows.

    Parameters
    ----------
    grid : fairlearn.reductions.GridSearch
    X, y, sensitive_features
        Rows to judge the predictors on, best ones they have not seen.
    metrics : dict of functions, optional
        As for fairlearn's ``MetricFrame``. Each becomes two attributes, its value over all and the gap between groups, of which
        less is better. By default accuracy over all, and the gap between selection rates.

    Returns
    -------
    Front
        Its ``items`` are the predictors.
    """
    from fairlearn.metrics import MetricFrame, selection_rate
    from sklearn.metrics import accuracy_score

    predictors = list(getattr(grid, "predictors_", []))
    if not predictors:
        raise ValueError(f"grid is a {type(grid).__name__} without predictors, expected a fitted GridSearch")
    wanted = {"accuracy": accuracy_score, "selection rate": selection_rate} if metrics is None else dict(metrics)
    frames = {
        f"predictor {n}": MetricFrame(
            metrics=wanted, y_true=y, y_pred=predictor.predict(X), sensitive_features=sensitive_features
        )
        for n, predictor in enumerate(predictors)
    }
    front = from_metric_frames(frames)
    if metrics is None:  # whether many are to be selected is another question than whether groups are treated alike
        columns = {name: front.columns[name] for name in ("candidate", "accuracy", "selection rate gap")}
        front = replace(front, columns=columns, minimize=["selection rate gap"], maximize=["accuracy"])
    return replace(front, items=predictors)


def from_metric_frames(frames: Mapping[str, Any] | Sequence[Any]) -> Front:
    """Models known by fairlearn's ``MetricFrame``: each metric over all, and its gap between groups, of which less is better.

    Parameters
    ----------
    frames : dict of MetricFrame by the names of the models, or a list
        All with the same metrics.
    """
    if isinstance(frames, Mapping):
        named = {str(name): frame for name, frame in frames.items()}
    else:
        named = {f"model {n}": frame for n, frame in enumerate(_checks.listed(frames, "frames"))}
    columns: dict[str, list[Any]] = {"candidate": list(named)}
    gaps: list[str] = []
    for row, (name, frame) in enumerate(named.items()):
        if getattr(frame, "control_levels", None):
            raise ValueError(f"the MetricFrame of {name!r} has control features, expected sensitive features only")
        overall, gap = _metrics(frame, frame.overall), _metrics(frame, frame.difference())
        if row and set(overall) | {"candidate"} != {column for column in columns if column not in gaps}:
            raise ValueError(f"the MetricFrame of {name!r} has the metrics {', '.join(overall)}, expected the same of all")
        for metric in overall:
            columns.setdefault(metric, []).append(overall[metric])
            columns.setdefault(f"{metric} gap", []).append(gap[metric])
        gaps = [f"{metric} gap" for metric in overall]
    return Front(columns, "candidate", minimize=gaps, items=list(named.values()))


def _metrics(frame: Any, values: Any) -> dict[str, float]:
    """The metrics of a frame by name; a frame of one metric has a number."""
    if hasattr(values, "items"):
        return {str(name): float(value) for name, value in values.items()}
    return {str(getattr(frame.by_group, "name", None) or "metric"): float(values)}


def from_mlflow(runs: Any, *, metrics: Sequence[str] | None = None) -> Front:
    """The finished runs of an MLflow experiment, by the metrics they logged.

    Parameters
    ----------
    runs : str, or data frame
        The name of an experiment of the current tracking store, or what ``mlflow.search_runs`` returned.
    metrics : list of str, optional
        Which metrics are attributes, by default all. Runs without one of those named here are left out.

    Returns
    -------
    Front
        Its ``items`` are the ids of the runs.
    """
    if isinstance(runs, str):
        import mlflow

        if mlflow.get_experiment_by_name(runs) is None:
            raise ValueError(f"there is no experiment {runs!r} in {mlflow.get_tracking_uri()}")
        runs = mlflow.search_runs(experiment_names=[runs])
    table = dict(_table.columns(runs))
    if "run_id" not in table:
        raise ValueError("runs has no column 'run_id', expected what mlflow.search_runs returns")
    logged = {name.removeprefix("metrics."): values for name, values in table.items() if name.startswith("metrics.")}
    wanted = list(logged) if metrics is None else _checks.words(metrics, "metrics")
    for name in wanted:
        if name not in logged:
            raise ValueError(f"no run has logged {name!r}, expected one of {', '.join(logged)}")
    status = table.get("status", ["FINISHED"] * len(table["run_id"]))
    rows = [n for n, word in enumerate(status) if word == "FINISHED"]
    if metrics is not None:
        rows = [n for n in rows if all(logged[name][n] == logged[name][n] and logged[name][n] is not None for name in wanted)]
    called = table.get("tags.mlflow.runName", [None] * len(table["run_id"]))
    ids = [str(table["run_id"][n]) for n in rows]
    names = _unique([str(called[n]) if called[n] else run for n, run in zip(rows, ids, strict=True)])
    columns = {"run": names, **{name: [logged[name][n] for n in rows] for name in wanted}}
    return Front(columns, "run", items=ids)


def from_sklearn(search: Any) -> Front:
    """The candidates of a scikit-learn search by their mean test scores, with the times to fit and to score as costs.

    Scores that are negated errors (``neg_mean_squared_error``, or a scorer of which less is better) come back as errors, of which
    less is better.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV, ..., or its ``cv_results_``
        Fitted; with one metric or several.

    Returns
    -------
    Front
        Its ``items`` are the parameters.
    """
    results = search if isinstance(search, Mapping) else getattr(search, "cv_results_", None)
    if results is None or "params" not in results:
        raise ValueError(f"search is a {type(search).__name__} without cv_results_, expected a fitted search")
    scorers = getattr(search, "scorer_", None)
    items = list(results["params"])
    columns: dict[str, list[Any]] = {"params": _unique([_told(params) for params in items])}
    less: list[str] = []
    more: list[str] = []
    for key in results:
        if not key.startswith("mean_test_"):
            continue
        name = key.removeprefix("mean_test_")
        scorer = scorers.get(name) if isinstance(scorers, Mapping) else scorers
        negated = name.startswith("neg_") or getattr(scorer, "_sign", 1) < 0
        called = name.removeprefix("neg_")
        sign = -1.0 if negated else 1.0
        columns[called] = [sign * float(score) for score in results[key]]
        (less if negated else more).append(called)
    for key, called in (("mean_fit_time", "fit_time_s"), ("mean_score_time", "score_time_s")):
        if key in results:
            columns[called] = [float(seconds) for seconds in results[key]]
            less.append(called)
    return Front(columns, "params", less, more, items)


def from_promptfoo(path: str | PathLike[str]) -> Front:
    """The prompts and providers of a promptfoo evaluation: ``promptfoo eval --output results.json``.

    Attributes are, per test: the share that passed, the score, named scores, latency, cost and tokens, as far as they are told.

    Parameters
    ----------
    path : path of the JSON file

    Returns
    -------
    Front
        Its ``items`` are the prompts as the file has them.
    """
    results = _json(path).get("results")
    found = results if isinstance(results, dict) else {}
    prompts = found.get("prompts") or ((found.get("table") or {}).get("head") or {}).get("prompts") or []
    prompts = [prompt for prompt in prompts if isinstance(prompt, dict) and isinstance(prompt.get("metrics"), dict)]
    if not prompts:
        raise ValueError(f"{path} has no prompts with metrics, expected what promptfoo eval --output writes")
    rows = [_of_prompt(prompt["metrics"], path) for prompt in prompts]
    providers, labels = ([_short(prompt.get(what) or "") for prompt in prompts] for what in ("provider", "label"))
    if len(set(labels)) == 1:
        names = providers
    elif len(set(providers)) == 1:
        names = labels
    else:
        names = [f"{provider}: {label}" for provider, label in zip(providers, labels, strict=True)]
    told = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, list[Any]] = {"prompt": _unique(names)}
    # What nobody was charged for, or counted, says nothing.
    columns.update({name: [row.get(name) for row in rows] for name in told if any(row.get(name) for row in rows)})
    costs: list[str] = [name for name in _COSTS if name in columns]
    return Front(columns, "prompt", costs, [name for name in columns if name not in ("prompt", *costs)], prompts)


_COSTS = ["latency_ms", "cost_usd", "tokens"]


def _of_prompt(metrics: dict[str, Any], path: Any) -> dict[str, float]:
    """What one prompt did, per test."""
    tests = sum(metrics.get(f"test{word}Count") or 0 for word in ("Pass", "Fail", "Error"))
    if tests < 1:
        raise ValueError(f"{path} has a prompt without tests, expected at least one")
    counts = metrics.get("namedScoreWeights") or metrics.get("namedScoresCount") or {}
    row = {"pass_rate": metrics["testPassCount"] / tests, "score": (metrics.get("score") or 0.0) / tests}
    row |= {name: value / (counts.get(name) or tests) for name, value in (metrics.get("namedScores") or {}).items()}
    row["latency_ms"] = (metrics.get("totalLatencyMs") or 0.0) / tests
    row["cost_usd"] = (metrics.get("cost") or 0.0) / tests
    row["tokens"] = ((metrics.get("tokenUsage") or {}).get("total") or 0) / tests
    return row


def from_lm_eval(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], *, metrics: Sequence[str] | None = None
) -> Front:
    """Models by the results of lm-evaluation-harness (``lm_eval --output_path``), an attribute per task.

    Which way a metric is better is what the files say. Prices, sizes and speeds are not in them: :meth:`Front.with_column` adds them.

    Parameters
    ----------
    paths : path, or list of paths
        Result files, or directories with ``results*.json`` in them. Files of one model are put together; what comes later by name
        (they are named by time) is newer.
    metrics : list of str, optional
        Which metrics are attributes (``acc``, ``exact_match``), by default the first one of every task: what says the same twice
        counts twice. Tasks of a group that has a result itself are left out.

    Returns
    -------
    Front
        Its ``items`` are the documents, by model.
    """
    given = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    files: list[Path] = []
    for path in map(Path, given):
        files += sorted(path.rglob("results*.json"), key=lambda file: file.name) if path.is_dir() else [path]
    wanted = None if metrics is None else _checks.words(metrics, "metrics")
    models: dict[str, dict[str, float]] = {}
    better: dict[str, bool] = {}
    documents: dict[str, Any] = {}
    for file in files:
        document = _json(file)
        results = document.get("results")
        if not isinstance(results, dict):
            raise ValueError(f"{file} has no results, expected what lm_eval --output_path writes")
        model = _model(document, file)
        documents[model] = document
        row = models.setdefault(model, {})
        for column, value, way in _tasks(document, results, wanted):
            row[column] = value
            if way is not None:
                better[column] = way
    columns_of = dict.fromkeys(column for row in models.values() for column in row)
    if not columns_of:
        raise ValueError(f"there are no results in {', '.join(map(str, given))}, expected result files of lm_eval")
    columns: dict[str, list[Any]] = {"model": list(models)}
    columns.update({column: [row.get(column) for row in models.values()] for column in columns_of})
    less, more = ([column for column in columns_of if better.get(column) is way] for way in (False, True))
    return Front(columns, "model", less, more, list(documents.values()))


def _model(document: dict[str, Any], file: Path) -> str:
    config = document.get("config") or {}
    args = config.get("model_args")
    pairs = args if isinstance(args, dict) else dict(pair.split("=", 1) for pair in str(args or "").split(",") if "=" in pair)
    return str(document.get("model_name") or pairs.get("pretrained") or pairs.get("model") or file.stem)


def _tasks(
    document: dict[str, Any], results: dict[str, Any], wanted: list[str] | None
) -> Iterable[tuple[str, float, bool | None]]:
    """The attributes of a model: name, value, and whether more is better where the file says it."""
    groups = document.get("group_subtasks") or {}
    inside = {task for group, tasks in groups.items() for task in tasks if any(_numbers(results.get(group) or {}))}
    for task, values in results.items():
        if task in inside or not isinstance(values, dict):
            continue
        found = [(key.partition(","), value) for key, value in _numbers(values)]
        ways = (document.get("higher_is_better") or {}).get(task) or {}
        for n, ((metric, _, filtered), value) in enumerate(found):
            if n == 0 if wanted is None else metric in wanted:
                column = f"{task} {metric}" + ("" if filtered in ("", "none") else f" ({filtered})")
                yield column, value, ways.get(metric)


def _numbers(values: dict[str, Any]) -> Iterable[tuple[str, float]]:
    """The metrics of a task: what is no error of estimation, no name and no size of the sample."""
    for key, value in values.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and "_stderr" not in key and key not in ("sample_len", "alias"):
            yield key, float(value)


def _json(path: str | PathLike[str] | Path) -> dict[str, Any]:
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    return document if isinstance(document, dict) else {}


def _told(params: Mapping[str, Any]) -> str:
    """Parameters in a line."""
    return _short(", ".join(f"{name}={value}" for name, value in params.items()) or "default", 80)


def _short(text: Any, longest: int = 60) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def _unique(names: list[str]) -> list[str]:
    """Names of which none is there twice: the second is called so."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found
