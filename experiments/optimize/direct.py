"""What the Python estimators come to beside fairlearn, OxonFair, 300 trials of optuna and Nelder-Mead, on test rows.

    python experiments/optimize/direct.py --data DIR [--rows 20000] [--splits 5 | --seeds 1 2 3] [--tasks adult_odds,credit,covtype]

One split per seed, drawn afresh and printed unless given, and one logistic regression for all. Every method sees the same
validation rows and is judged on the same test rows; calls are values of the metric asked for, and ours has as many as the other
search that took the fewest. What is printed are means over the splits, and the mean and standard error of what ours is better by
from split to split. It is at least as good unless it is worse by more than .0005 and by 1.645 of these errors, which methods of the
same worth are once in twenty comparisons; it must have had no more calls or a tenth of the time. It ends with 1 where it is not. fairlearn,
OxonFair and optuna are skipped by name where they are not installed.
"""

import argparse
import importlib.util
import pathlib
import secrets
import time

import numpy as np
import pandas as pd
from equipoise import BlackBoxClassifier
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

CALLS = 300


def installed(name):
    found = importlib.util.find_spec(name) is not None
    if not found:
        print(f"skipped: {name} is not installed")
    return found


def recalls(truth, labels):
    return np.array([(labels[truth == c] == c).mean() for c in np.unique(truth)])


def min_recall(truth, labels):
    return recalls(truth, labels).min()


def g_mean(truth, labels):
    return recalls(truth, labels).prod() ** (1 / len(np.unique(truth)))


def macro_f1(truth, labels):
    scores = []
    for c in np.unique(truth):
        right = ((truth == c) & (labels == c)).sum()
        scores.append(2 * right / ((truth == c).sum() + (labels == c).sum()))
    return float(np.mean(scores))


class Fitted(ClassifierMixin, BaseEstimator):
    """Probabilities that were computed before, as a model."""

    def __init__(self, classes):
        self.classes = classes
        self.classes_ = classes

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return self.classes_[X.argmax(axis=1)]


def by_optuna(value, k):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    names = [f"w{i}" for i in range(1, k)]
    study.optimize(lambda trial: value([0.0] + [trial.suggest_float(name, -5, 5) for name in names]), n_trials=CALLS)
    return [0.0] + [study.best_params[name] for name in names]


def by_simplex(value, k):
    # From zero the usual first simplex is so small that no prediction changes, and the search ends where it began.
    corners = np.vstack([np.zeros(k - 1), np.eye(k - 1)])
    options = {"maxfev": 2 * CALLS, "initial_simplex": corners}
    found = minimize(lambda w: -value([0.0, *w]), np.zeros(k - 1), method="Nelder-Mead", options=options)
    return [0.0, *found.x]


def weighted(p, logs):
    return (p * np.exp(logs)).argmax(axis=1)


class Counted:
    """A metric of weights that knows how often it was asked, and how long everything took."""

    def __init__(self, value):
        self.value, self.calls, self.start = value, 0, time.perf_counter()

    def __call__(self, logs):
        self.calls += 1
        return self.value(logs)

    @property
    def seconds(self):
        return time.perf_counter() - self.start


def split(X, y, seed, *others):
    """Half to train, a quarter to choose, a quarter to judge."""
    train, held, *rest = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
    val, test = train_test_split(held, test_size=0.5, stratify=y[held], random_state=seed)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X[train], y[train])
    return model, val, test


def recall_tasks(name, X, y, rows, seeds, verdicts):
    if rows and rows < len(y):
        X, _, y, _ = train_test_split(X, y, train_size=rows, stratify=y, random_state=0)
    found = {}
    for seed in seeds:
        model, val, test = split(X, y, seed)
        p, p_test, y_val, y_test = model.predict_proba(X[val]), model.predict_proba(X[test]), y[val], y[test]
        k = p.shape[1]
        for metric in (min_recall, macro_f1, g_mean):
            kept = found.setdefault(metric.__name__, {})
            kept.setdefault("model", []).append((metric(y_test, p_test.argmax(axis=1)), 0, 0.0))
            methods = {"nelder-mead": by_simplex}
            if OPTUNA:
                methods["optuna"] = by_optuna
            fewest = CALLS
            for method, search in methods.items():
                value = Counted(lambda logs: metric(y_val, weighted(p, logs)))
                logs = search(value, k)
                seconds = value.seconds
                fewest = min(fewest, value.calls)
                kept.setdefault(method, []).append((metric(y_test, weighted(p_test, logs)), value.calls, seconds))
            start = time.perf_counter()
            ours = BlackBoxClassifier(
                Fitted(np.unique(y)), lambda t, soft: metric(t, soft.argmax(axis=1)), prefit=True, max_calls=fewest
            ).fit(p, y_val)
            kept.setdefault("equipoise", []).append(
                (metric(y_test, ours.predict(p_test)), ours.calls_, time.perf_counter() - start)
            )
    for metric, kept in found.items():
        report(f"{name}, {metric}", kept, True, verdicts)


def report(title, kept, larger, verdicts):
    """A line per method, and whether ours is at least as good."""
    print(title)
    values = {method: np.array(runs) for method, runs in kept.items()}
    ours = values["equipoise"]
    for method, runs in values.items():
        mean, calls, seconds = runs.mean(axis=0)
        told = ""
        if method not in ("equipoise", "model"):
            apart = (ours[:, 0] - runs[:, 0]) * (1 if larger else -1)
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            good = apart.mean() >= -max(1.645 * error, 5e-4)
            cheap = calls == 0 or ours[:, 1].mean() <= calls or ours[:, 2].mean() <= seconds / 10
            verdicts.append(bool(good and cheap))
            told = f"  ours {'at least as good' if good else 'WORSE'}: {apart.mean():+.4f} +- {error:.4f}"
            told += "" if cheap else ", with MORE calls"
        asked = f"{calls:5.0f} calls" if calls else " " * 11
        print(f"  {method:22} {mean:.4f}  {asked}  {seconds:7.2f} s{told}")


def rates(truth, positive, groups):
    """How often each group is accepted, by true class; chances of being accepted count in part."""
    return np.array([[positive[(groups == g) & (truth == c)].mean() for g in np.unique(groups)] for c in (0, 1)])


def odds(truth, positive, groups, trade_off):
    """Error, and the larger of the differences between groups in the two rates, which trade off; of chances, what to expect."""
    error = np.where(truth == 1, 1 - positive, positive).mean()
    return (1 - trade_off) * error + trade_off * np.ptp(rates(truth, positive, groups), axis=1).max()


def by_oxonfair(p, y_val, g_val, p_test, y_test, g_test):
    """The best of its rules for each trade-off, chosen on the validation rows among bounds of the difference."""
    from oxonfair import FairPredictor
    from oxonfair.utils import group_metrics

    val = {"target": y_val, "data": p, "groups": g_val}
    test = {"target": y_test, "data": p_test, "groups": g_test}
    tried = []
    for bound in (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 1.0):
        fitted = FairPredictor(None, val)
        fitted.fit(group_metrics.accuracy, group_metrics.equalized_odds_max, bound)
        tried.append([np.asarray(fitted.predict(rows)).astype(int) for rows in (val, test)])
    best = {t: min(tried, key=lambda pair: odds(y_val, pair[0], g_val, t)) for t in TRADE_OFFS}
    return {t: odds(y_test, best[t][1], g_test, t) for t in TRADE_OFFS}


def adult_odds(folder, rows, seeds, verdicts):
    data = pd.read_csv(folder / "adult.csv.gz").fillna("?")
    if rows:
        data = data.sample(min(rows, len(data)), random_state=0)
    X = pd.get_dummies(data.drop(columns=["label", "split"])).astype(float).to_numpy()
    y, sex = data["label"].to_numpy(), (data["sex"] == data["sex"].iloc[0]).to_numpy().astype(int)
    found = {t: {} for t in TRADE_OFFS}
    for seed in seeds:
        model, val, test = split(X, y, seed)
        p, p_test, y_val, y_test, g_val, g_test = (
            model.predict_proba(X[val]), model.predict_proba(X[test]), y[val], y[test], sex[val], sex[test]
        )  # fmt: skip
        drawn = oxonfair = None
        if FAIRLEARN:
            from fairlearn.postprocessing import ThresholdOptimizer

            start = time.perf_counter()
            fair = ThresholdOptimizer(estimator=model, constraints="equalized_odds", prefit=True, predict_method="predict_proba")
            fair.fit(X[val], y_val, sensitive_features=g_val)
            seconds = time.perf_counter() - start
            chances = fair._pmf_predict(X[test], sensitive_features=g_test)[:, 1]
            drawn = {t: (odds(y_test, chances, g_test, t), 0, seconds) for t in TRADE_OFFS}
        if OXONFAIR:
            start = time.perf_counter()
            oxonfair = by_oxonfair(p, y_val, g_val, p_test, y_test, g_test)
            seconds_each = (time.perf_counter() - start) / len(TRADE_OFFS)
        for t in TRADE_OFFS:
            kept = found[t]
            kept.setdefault("model", []).append((odds(y_test, p_test[:, 1] >= 0.5, g_test, t), 0, 0.0))
            if drawn:
                kept.setdefault("fairlearn", []).append(drawn[t])
            if oxonfair:
                kept.setdefault("oxonfair", []).append((oxonfair[t], 0, seconds_each))
            for name, draws in (("equipoise, no draws", False), ("equipoise", True)):
                start = time.perf_counter()
                ours = BlackBoxClassifier(
                    Fitted(np.array([0, 1])), lambda truth, soft, t=t: -odds(truth, soft[:, 1], g_val, t),
                    prefit=True, per_group=True, max_calls=CALLS, randomize=draws, random_state=0,
                ).fit(p, y_val, sensitive_features=g_val)  # fmt: skip
                seconds = time.perf_counter() - start
                if draws:
                    chances = ours.rule_.chances(p_test, g_test.astype(np.uint16))
                else:
                    chances = ours.predict(p_test, sensitive_features=g_test)
                kept.setdefault(name, []).append((odds(y_test, chances, g_test, t), ours.calls_, seconds))
    for t, kept in found.items():
        alone = kept.pop("equipoise, no draws")
        report(f"adult, error and equalised odds, trade-off {t} (less is better)", kept, False, verdicts)
        print(f"  {'equipoise, no draws':22} {np.mean([run[0] for run in alone]):.4f}")


TRADE_OFFS = [0.1, 0.3, 0.5, 0.7]
FAIRLEARN, OXONFAIR, OPTUNA = (installed(name) for name in ("fairlearn", "oxonfair", "optuna"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--tasks", default="adult_odds,adult,credit,covtype")
    args = parser.parse_args()
    args.seeds = args.seeds or [secrets.randbits(31) for _ in range(args.splits)]
    if len(args.seeds) < 2:
        parser.error("one split says nothing of how far apart methods are, expected at least 2")
    print("seeds", *args.seeds)
    verdicts = []
    for task in args.tasks.split(","):
        if task == "adult_odds":
            adult_odds(args.data, args.rows, args.seeds, verdicts)
            continue
        name = {"adult": "adult", "credit": "credit_default", "covtype": "covtype"}[task]
        data = pd.read_csv(args.data / f"{name}.csv.gz").fillna("?")
        X = pd.get_dummies(data.drop(columns=[c for c in ("label", "split") if c in data])).astype(float).to_numpy()
        rows = args.rows or (60_000 if task == "covtype" else None)
        recall_tasks(task, X, data["label"].to_numpy(), rows, args.seeds, verdicts)
    print(f"{sum(verdicts)} of {len(verdicts)} comparisons hold")
    return int(not all(verdicts))


if __name__ == "__main__":
    raise SystemExit(main())
