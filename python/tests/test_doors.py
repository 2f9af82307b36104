"""Fronts from other tools: read as those tools mean them, and chosen from."""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from equipoise import choose, doors

FRONTS = Path(__file__).parent.parent.parent / "examples" / "fronts"


def test_a_front_takes_more_columns_and_options_have_the_last_word():
    front = doors.Front({"model": ["a", "b", "c"], "depth": [1, 2, 3], "recall": [0.7, 0.8, 0.9]}, "model", ["depth"])
    assert len(front) == 3
    assert choose(front, maximize=["depth"]).result().best == "c"
    priced = front.with_column("price", {"a": 1, "b": 2, "c": 9})
    assert priced.columns["price"] == [1, 2, 9] and "price" not in front.columns
    assert choose(priced, oracle={"recall": 1}).best == "c"
    assert priced.with_column("beauty", [3, 2, 1], "maximize").maximize == ["beauty"]
    assert choose(priced, ignore=["depth", "price"]).result().best == "c"
    assert "less is better" in front._repr_html_()
    metric = choose(priced, oracle={"recall": 1}).metric
    assert [one.name for one in metric.rank_candidates(priced)][0] == "c"
    for wrong, sentence in (([1, 2], "has 2 values, expected 3"), ({"a": 1}, "has no value for 'b'")):
        with pytest.raises(ValueError, match=sentence):
            front.with_column("price", wrong)
    with pytest.raises(ValueError, match="direction is 'up', expected"):
        front.with_column("price", [1, 2, 3], "up")


def test_an_optuna_study_is_its_best_trials_with_its_directions():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        return 100 + 300 * x, 0.6 + 0.35 * x**0.5

    study = optuna.create_study(directions=["minimize", "maximize"], sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, n_trials=12)
    front = doors.from_optuna(study, names=["latency_ms", "recall"])
    assert front.items == study.best_trials and len(front) == 12
    assert (front.minimize, front.maximize) == (["latency_ms"], ["recall"])
    chosen = choose(front, oracle={"recall": 1})
    trial = front.items[chosen.row]
    assert chosen.best == f"trial {trial.number}"
    assert trial.values[1] == pytest.approx(max(front.columns["recall"]), abs=0.02)
    assert list(doors.from_optuna(study).columns) == ["trial", "objective 0", "objective 1"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of metrics are an experiment of Optuna's
        study.set_metric_names(["latency_ms", "recall"])
    assert list(doors.from_optuna(study).columns) == ["trial", "latency_ms", "recall"]
    # Names do not say otherwise than the study.
    assert doors.from_optuna(study, names=["error", "loss"]).maximize == ["loss"]
    with pytest.raises(ValueError, match="names has 1 names, expected 2"):
        doors.from_optuna(study, names=["x"])
    with pytest.raises(ValueError, match="the study has one objective"):
        doors.from_optuna(optuna.create_study())


def test_fairlearn_predictors_are_judged_by_errors_and_gaps():
    reductions = pytest.importorskip("fairlearn.reductions")
    pytest.importorskip("sklearn")
    from fairlearn.metrics import MetricFrame, selection_rate
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, recall_score

    random = np.random.default_rng(5)
    group = random.choice(["east", "west"], 800)
    X = np.c_[random.normal(size=800) + (group == "east"), random.normal(size=800)]
    y = (X[:, 0] + 0.7 * X[:, 1] + random.normal(size=800) > 0.5).astype(int)
    grid = reductions.GridSearch(LogisticRegression(), reductions.DemographicParity(), grid_size=9)
    grid.fit(X[:500], y[:500], sensitive_features=group[:500])
    seen = {"X": X[500:], "y": y[500:], "sensitive_features": group[500:]}
    front = doors.from_fairlearn(grid, **seen)
    assert list(front.columns) == ["candidate", "accuracy", "selection rate gap"]
    assert (front.minimize, front.maximize) == (["selection rate gap"], ["accuracy"])
    predicted = front.items[3].predict(X[500:])
    assert front.columns["accuracy"][3] == pytest.approx((predicted == y[500:]).mean())
    rates = [predicted[group[500:] == one].mean() for one in ("east", "west")]
    assert front.columns["selection rate gap"][3] == pytest.approx(abs(rates[0] - rates[1]))
    fair = choose(front, oracle={"selection rate gap": 1})
    apt = choose(front, oracle={"accuracy": 1})
    assert front.columns["selection rate gap"][fair.row] < front.columns["selection rate gap"][apt.row]
    assert front.columns["accuracy"][fair.row] < front.columns["accuracy"][apt.row]
    more = doors.from_fairlearn(grid, **seen, metrics={"accuracy": accuracy_score, "recall": recall_score})
    assert list(more.columns) == ["candidate", "accuracy", "accuracy gap", "recall", "recall gap"]
    assert more.minimize == ["accuracy gap", "recall gap"] and choose(more).about > 0

    def frame(metrics):
        return MetricFrame(metrics=metrics, y_true=y[500:], y_pred=predicted, sensitive_features=group[500:])

    one = doors.from_metric_frames([frame(accuracy_score), frame(accuracy_score)])
    assert list(one.columns) == ["candidate", "accuracy_score", "accuracy_score gap"]
    assert one.columns["candidate"] == ["model 0", "model 1"]
    with pytest.raises(ValueError, match="has the metrics b, expected the same of all"):
        doors.from_metric_frames({"x": frame({"a": selection_rate}), "y": frame({"b": selection_rate})})
    with pytest.raises(ValueError, match="without predictors, expected a fitted GridSearch"):
        doors.from_fairlearn(LogisticRegression(), **seen)


@pytest.mark.parametrize("store", ["files", "sqlite"])
def test_mlflow_runs_are_candidates(tmp_path, monkeypatch, store):
    mlflow = pytest.importorskip("mlflow")
    pd = pytest.importorskip("pandas")
    if store == "sqlite":
        pytest.importorskip("sqlalchemy")
        pytest.importorskip("alembic")
    # Newer releases would rather have a database.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    # Not mlflow.set_tracking_uri, which would hold for the tests that follow.
    place = (tmp_path / "runs").as_uri() if store == "files" else f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", place)
    monkeypatch.chdir(tmp_path)
    mlflow.set_experiment("sizes")
    for size, latency, recall in (("small", 20, 0.8), ("large", 200, 0.95), ("large", 90, 0.9)):
        with mlflow.start_run(run_name=size):
            mlflow.log_metrics({"latency_ms": latency, "recall": recall})
            mlflow.log_param("size", size)
    with mlflow.start_run(run_name="half"):
        mlflow.log_metric("recall", 0.99)
    mlflow.start_run(run_name="broken")
    mlflow.log_metrics({"latency_ms": 1, "recall": 1.0})
    mlflow.end_run("FAILED")
    runs = mlflow.search_runs(experiment_names=["sizes"])
    front = doors.from_mlflow("sizes", metrics=["latency_ms", "recall"])
    with pytest.raises(ValueError, match="there is no experiment 'others'"):
        doors.from_mlflow("others")
    assert set(front.columns["run"]) == {"small", "large", "large (2)"}
    assert doors.from_mlflow(runs, metrics=["latency_ms", "recall"]) == front
    chosen = choose(front, oracle={"recall": 1})
    assert runs.set_index("run_id")["metrics.recall"][front.items[chosen.row]] == 0.95
    # All that was logged, and what is missing is said.
    every = doors.from_mlflow(runs)
    assert len(every) == 4 and "broken" not in every.columns["run"]
    with pytest.raises(ValueError, match='column "latency_ms" has no number in row'):
        choose(every)
    with pytest.raises(ValueError, match="no run has logged 'f1', expected one of"):
        doors.from_mlflow(runs, metrics=["f1"])
    with pytest.raises(ValueError, match="no column 'run_id'"):
        doors.from_mlflow(pd.DataFrame({"metrics.f1": [1.0]}))


def test_a_search_of_sklearn_has_scores_times_and_signs():
    pytest.importorskip("sklearn")
    from sklearn.datasets import make_regression
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.metrics import make_scorer, max_error
    from sklearn.model_selection import GridSearchCV

    X, y = make_regression(120, 5, noise=20, random_state=0)
    scoring = {"r2": "r2", "neg_mean_squared_error": "neg_mean_squared_error", "worst": make_scorer(max_error, greater_is_better=False)}
    search = GridSearchCV(
        RandomForestRegressor(random_state=0), {"n_estimators": [1, 20], "max_depth": [2, None]}, scoring=scoring, refit=False, cv=3
    ).fit(X, y)
    front = doors.from_sklearn(search)
    assert list(front.columns) == ["params", "r2", "mean_squared_error", "worst", "fit_time_s", "score_time_s"]
    assert (front.maximize, front.minimize) == (["r2"], ["mean_squared_error", "worst", "fit_time_s", "score_time_s"])
    assert min(front.columns["mean_squared_error"]) > 0 and min(front.columns["worst"]) > 0
    chosen = choose(front, ignore=["fit_time_s", "score_time_s"], oracle={"mean_squared_error": 1})
    assert front.columns["mean_squared_error"][chosen.row] == min(front.columns["mean_squared_error"])
    assert front.items[chosen.row] == search.cv_results_["params"][chosen.row]
    assert chosen.best == "max_depth=None, n_estimators=20"
    # Results without their search say what their names say.
    plain = doors.from_sklearn(search.cv_results_)
    assert plain.maximize == ["r2", "worst"] and max(plain.columns["worst"]) < 0
    single = GridSearchCV(RandomForestRegressor(random_state=0), {"n_estimators": [1, 9]}, scoring="neg_mean_absolute_error", cv=3).fit(X, y)
    assert doors.from_sklearn(single).minimize[0] == "score" and min(doors.from_sklearn(single).columns["score"]) > 0
    with pytest.raises(ValueError, match="without cv_results_, expected a fitted search"):
        doors.from_sklearn(RandomForestRegressor())


def test_a_promptfoo_file_is_prompts_and_providers_per_test(tmp_path):
    front = doors.from_promptfoo(FRONTS / "promptfoo.json")
    assert list(front.columns) == ["prompt", "pass_rate", "score", "politeness", "latency_ms", "cost_usd", "tokens"]
    assert front.columns["prompt"][:2] == ["acme:mini: terse", "acme:mini: step by step"]
    assert front.columns["pass_rate"][0] == 31 / 40 and front.columns["latency_ms"][0] == 370
    assert front.columns["politeness"][0] == 27 / 40 and front.items[0]["provider"] == "acme:mini"
    assert front.minimize == ["latency_ms", "cost_usd", "tokens"] and front.maximize == ["pass_rate", "score", "politeness"]
    assert choose(front, oracle={"pass_rate": 1}).best == "acme:large: step by step"
    assert choose(front, oracle={"latency_ms": 1}).best == "acme:mini: terse"
    document = json.loads((FRONTS / "promptfoo.json").read_text())
    prompts = document["results"].pop("prompts")
    # Files of before kept them in the head of a table.
    older = {**document, "results": {**document["results"], "version": 2, "table": {"head": {"prompts": prompts}, "body": []}}}
    (tmp_path / "older.json").write_text(json.dumps(older))
    assert doors.from_promptfoo(tmp_path / "older.json") == front
    (tmp_path / "one.json").write_text(json.dumps({"results": {"prompts": prompts[::2]}}))
    assert doors.from_promptfoo(tmp_path / "one.json").columns["prompt"] == ["acme:mini", "acme:large", "local:7b"]
    for text, sentence in (("{}", "has no prompts with metrics"), ("[1", "is not valid JSON")):
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(ValueError, match=sentence):
            doors.from_promptfoo(tmp_path / "wrong.json")


def test_what_promptfoo_itself_writes_is_read(tmp_path):
    program = os.environ.get("EQUIPOISE_PROMPTFOO") or shutil.which("promptfoo")
    if program is None:
        pytest.skip("promptfoo is not installed; EQUIPOISE_PROMPTFOO names it (scripts/test --long installs it)")
    # Words that are sent back as they are: no model and no network.
    config = {
        "prompts": ["Say {{word}}", "Please say {{word}} now"],
        "providers": ["echo"],
        "tests": [
            {"vars": {"word": "yes"}, "assert": [{"type": "contains", "value": "yes"}]},
            {"vars": {"word": "no"}, "assert": [{"type": "equals", "value": "Say no"}]},
        ],
    }
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    alone = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home")}
    command = [program, "eval", "-c", "promptfooconfig.json", "--no-cache", "--no-table", "-o", "results.json"]
    # It ends with a code of its own where a test fails, and one does.
    ran = subprocess.run(command, cwd=tmp_path, env={**os.environ, **alone}, capture_output=True, text=True, timeout=300)
    assert (tmp_path / "results.json").exists(), ran.stdout + ran.stderr
    front = doors.from_promptfoo(tmp_path / "results.json")
    assert front.columns["prompt"] == ["Say {{word}}", "Please say {{word}} now"]
    assert front.columns["pass_rate"] == [1.0, 0.5] and "pass_rate" in front.maximize
    assert choose(front, oracle={"pass_rate": 1}, ignore=["latency_ms", "score"]).best == "Say {{word}}"


def test_what_lm_eval_itself_writes_is_read(tmp_path):
    pytest.importorskip("lm_eval")
    questions = [("2 + 2", ["3", "4"], 1), ("3 + 3", ["6", "7"], 0), ("5 - 1", ["4", "2"], 0), ("1 + 1", ["3", "2"], 1)]
    rows = [json.dumps({"q": q, "choices": choices, "gold": gold}) for q, choices, gold in questions]
    (tmp_path / "sums.jsonl").write_text("\n".join(rows))
    task = {
        "task": "sums",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(tmp_path / "sums.jsonl")}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{q}} =",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "gold",
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
    }
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "sums.yaml").write_text(json.dumps(task))  # JSON is YAML
    alone = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    for model in ("acme/one", "acme/two"):
        # A model that answers by chance: no weights and no network.
        command = [sys.executable, "-m", "lm_eval", "--model", "dummy", "--model_args", f"pretrained={model}", "--tasks", "sums"]
        command += ["--include_path", str(tmp_path / "tasks"), "--output_path", str(tmp_path / "results")]
        ran = subprocess.run(command, env={**os.environ, **alone}, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr
    front = doors.from_lm_eval(tmp_path / "results")
    assert front.columns["model"] == ["acme/one", "acme/two"]
    assert all(0 <= share <= 1 for share in front.columns["sums acc"]) and front.maximize == ["sums acc"]


def test_lm_eval_files_are_models_by_task(tmp_path):
    front = doors.from_lm_eval(FRONTS / "lm_eval")
    assert sorted(front.columns["model"]) == ["acme/large", "acme/middle", "acme/small"]
    tasks = ["arc_easy acc", "gsm8k exact_match (strict-match)", "mmlu acc", "wikitext word_perplexity"]
    assert list(front.columns) == ["model", *tasks]
    assert front.minimize == tasks[-1:] and front.maximize == tasks[:-1]
    assert [document["model_name"] for document in front.items] == front.columns["model"]
    priced = front.with_column("price_usd", {"acme/small": 1, "acme/middle": 4, "acme/large": 20})
    assert choose(priced, ignore=tasks[:2] + tasks[3:], oracle={"price_usd": 1}).best == "acme/small"
    assert choose(priced, oracle={"mmlu acc": 1}).best == "acme/large"
    # The largest is the best at everything: nothing is to be asked.
    assert choose(front).result().stopped_by == "dominance"
    assert list(doors.from_lm_eval(FRONTS / "lm_eval", metrics=["acc_norm"]).columns) == ["model", "arc_easy acc_norm"]
    exact = doors.from_lm_eval(FRONTS / "lm_eval", metrics=["exact_match"])
    assert list(exact.columns)[1:] == ["gsm8k exact_match (strict-match)", "gsm8k exact_match (flexible-extract)"]
    # Two files of one model, and a model that is named by its arguments only.
    files = sorted((FRONTS / "lm_eval").rglob("*.json"))
    document = json.loads(files[0].read_text())
    name = document.pop("model_name")
    document["results"] = {"boolq": {"acc,none": 0.8}}
    (tmp_path / "results_2.json").write_text(json.dumps(document))
    both = doors.from_lm_eval([*files, tmp_path / "results_2.json"])
    assert len(both) == 3 and both.columns["boolq acc"][both.columns["model"].index(name)] == 0.8
    for text, sentence in (('{"results": 3}', "has no results"), ("{", "is not valid JSON")):
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(ValueError, match=sentence):
            doors.from_lm_eval(tmp_path / "wrong.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="there are no results in"):
        doors.from_lm_eval(tmp_path / "empty")


def test_doors_import_nothing_before_they_are_opened():
    import subprocess
    import sys

    heavy = "optuna fairlearn mlflow sklearn pandas".split()
    code = f"import sys, equipoise.doors; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
