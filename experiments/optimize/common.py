"""What the experiments share: data as the papers prepare it, tables for `equipoise optimize`, the same task with the Python
package, means and deviations."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
from equipoise import BlackBoxClassifier, Metric, PostShiftClassifier
from sklearn.linear_model import LogisticRegression

SEEDS = [15, 25, 35, 45, 55]


def arguments(description, parser=None):
    parser = parser or argparse.ArgumentParser(description=description)
    parser.add_argument("--data", required=True, type=pathlib.Path, help="the directory with the data sets (adult.csv.gz, ...)")
    parser.add_argument("--equipoise", help="the binary [default: target/release/equipoise, or the one on the path]")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--rows", type=int, help="only so many rows of each data set, for a quick look")
    args = parser.parse_args()
    built = pathlib.Path(__file__).resolve().parents[2] / "target" / "release" / "equipoise"
    args.equipoise = args.equipoise or (str(built) if built.exists() else shutil.which("equipoise"))
    if not args.equipoise:
        sys.exit("no equipoise binary: cargo build --release, or name one with --equipoise")
    if not args.data.is_dir():
        sys.exit(f"no data: {args.data} is not a directory")
    return args


def data(args, name):
    path = args.data / name
    if not path.exists():
        print(f"skipped: no data ({name})")
        sys.exit(0)
    frame = pd.read_csv(path)
    return frame if args.rows is None else frame.sample(min(args.rows, len(frame)), random_state=0).reset_index(drop=True)


def adult(args):
    """Adult as chapter 7 uses it: '?' is a level, numbers are cut into right-closed bins, every level a column."""
    raw = data(args, "adult.csv.gz")
    raw = raw.fillna("?")
    train = raw["split"] == "train"
    columns = {}
    for name in ["education", "occupation", "relationship", "race", "sex", "native_country"]:
        for level in sorted(raw[name].unique()):
            columns[f"{name}={level}"] = raw[name] == level
    columns["private_workforce"] = raw["workclass"] == "Private"
    columns["non_private_workforce"] = raw["workclass"] != "Private"
    # The lowest quartile edge is open on the left, so the youngest are in no bin.
    ages = np.quantile(raw.loc[train, "age"], [0, 0.25, 0.5, 0.75, 1])
    bins = {
        "age": list(ages),
        "capital_gain": [-1, 1, 4000, 10000, 100000],
        "capital_loss": [-1, 1, 1800, 1950, 4500],
        "hours_per_week": [0, 39, 41, 50, 100],
        "education_num": [0, 8, 9, 11, 16],
    }
    for name, edges in bins.items():
        for low, high in zip(edges, edges[1:]):
            columns[f"{name} in ({low:g}, {high:g}]"] = (raw[name] > low) & (raw[name] <= high)
    columns["income"] = raw["label"] == 1
    features = pd.DataFrame(columns).astype(float)
    return features, raw, train.to_numpy()


def logistic(x, y, **options):
    return LogisticRegression(max_iter=options.pop("max_iter", 2000), **options).fit(x, y)


def cross_fit(x, y, seed, folds=5, **options):
    """Out-of-sample probabilities of the training rows, which a model with many parameters needs."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    model = LogisticRegression(max_iter=options.pop("max_iter", 2000), **options)
    return cross_val_predict(model, x, y, cv=split, method="predict_proba")


def table(truth, probabilities, **columns):
    """A table of predictions: y, p0, p1, ... and whatever else."""
    frame = {"y": np.asarray(truth, dtype=int)}
    for k in range(probabilities.shape[1]):
        frame[f"p{k}"] = probabilities[:, k]
    frame.update({name: np.asarray(values) for name, values in columns.items()})
    return pd.DataFrame(frame)


def optimize(args, train, validation, test, *options, timeout=1200):
    """Writes the tables, runs the command, and returns its document and the predictions for the test rows."""
    classes = sum(1 for name in test.columns if name[0] == "p" and name[1:].isdigit())
    scores = ",".join(f"p{k}" for k in range(classes))
    with tempfile.TemporaryDirectory() as place:
        command = [args.equipoise, "optimize", "--truth", "y", "--scores", scores, "--json"]
        for name, frame in [("train", train), ("validation", validation), ("test", test)]:
            path = os.path.join(place, f"{name}.csv")
            frame.to_csv(path, index=False)
            command += [f"--{name}", path]
        command += ["--classifier", os.path.join(place, "classifier.json"), *map(str, options)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return json.loads(done.stdout)


def g_mean(truth, soft, groups=None):
    """The geometric mean of the recalls; of all groups' recalls, where there are groups."""
    groups = np.zeros(len(truth)) if groups is None else groups
    recalls = [soft[(truth == k) & (groups == g), k].mean() for g in np.unique(groups) for k in range(soft.shape[1])]
    return float(np.prod(recalls)) ** (1 / len(recalls))


def macro_f(truth, soft):
    """The mean over the classes of the F-measure."""
    hits = np.array([soft[truth == k, k].sum() for k in range(soft.shape[1])])
    return float(np.mean(2 * hits / (np.bincount(truth, minlength=soft.shape[1]) + soft.sum(axis=0))))


def in_python(model, metric, x, y, validation, test, test_metric=None):
    """The value on the test rows of the package's own classifier, which knows the metric as a function only."""
    rule = BlackBoxClassifier(model, metric, prefit=True).fit(x[validation], y[validation])
    hard = np.eye(len(rule.classes_))[np.searchsorted(rule.classes_, rule.predict(x[test]))]
    return (test_metric or metric)(y[test], hard)


#: What the package's classifier is called in the tables.
IN_PYTHON = "BlackBoxClassifier, in Python"


def searched_in_python(model, x, y, validation, test):
    """The accuracy on the test rows with class weights that the package found best on the validation rows."""
    metric = Metric.named("accuracy", classes=len(model.classes_))
    rule = PostShiftClassifier(model, metric, method="search", prefit=True).fit(x[validation], y[validation])
    return metric(y[test], rule.predict(x[test]), labels=model.classes_)


class Results:
    """Values by method over the seeds, printed beside the papers'."""

    def __init__(self, title):
        self.title, self.values = title, {}

    def add(self, method, value):
        self.values.setdefault(method, []).append(value)

    def take(self, found, method):
        """A document of the command: its own value, and what it compares with."""
        self.add(method, found["value"]["test"])
        if "model as it is" not in self.values or len(self.values["model as it is"]) < len(self.values[method]):
            self.add("model as it is", found["before"]["test"])
            for name, values in found["baselines"].items():
                self.add(name.replace("_", " "), values["test"])

    def print(self, papers, required=None):
        required = required or {}
        print(f"\n{self.title}")
        print(f"{'method':<34} {'mean':>7} {'deviation':>10}  {'paper':<18} {'required':>8}")
        ok = True
        for method, values in self.values.items():
            mean = float(np.mean(values))
            deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            least = required.get(method)
            verdict = "" if least is None else ("" if mean >= least else "  MISSED")
            ok &= least is None or mean >= least
            wanted = "" if least is None else f"{least:.3f}"
            print(f"{method:<34} {mean:>7.4f} {deviation:>10.4f}  {papers.get(method, ''):<18} {wanted:>8}{verdict}")
        return ok
