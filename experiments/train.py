#!/usr/bin/env python3
"""Trains the classifiers that `equipoise reproduce` ranks and the scores it elicits on.

    python3 experiments/train.py --data DIR --out OUT [--only magic,wine] [--jobs 2]
    equipoise reproduce 5.4 --data OUT

DIR holds the raw data sets, one gzip-compressed CSV each with the class in a last column `label`; experiments/README.md
lists them. OUT receives `predictions/*.csv[.gz]` (truth and probabilities) and `pools/*.csv` (one row per model, group,
true class and predicted class). Seeds are fixed: the same data and the same versions give the same files.
"""

import argparse
import itertools
import pathlib
import time
import warnings

import lightgbm
import numpy as np
import pandas as pd
from equipoise import Metric, confusion_counts
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

SEED = 1
# Pools are for ranking, not for winning: more rows would make every classifier better and the wait longer.
TRAINING_ROWS = 5_000
TEST_ROWS = 40_000


# --- data sets -------------------------------------------------------------------------------------------------------


def read(folder, name):
    return pd.read_csv(folder / f"{name}.csv.gz")


def magic(folder):
    data = read(folder, "magic_gamma")
    return data.drop(columns="label"), data["label"]


def wdbc(folder):
    data = read(folder, "breast_cancer_wdbc")
    return data.drop(columns="label"), data["label"]


def vehicle(folder):
    data = read(folder, "vehicle_silhouettes")
    names = dict(enumerate(["bus", "opel", "saab", "van"]))
    return data.drop(columns="label"), data["label"].map(names)


def default(folder):
    data = read(folder, "credit_default")
    sex = data["SEX"].map({1: "male", 2: "female"})
    features = pd.get_dummies(data.drop(columns="label"), columns=["SEX", "EDUCATION", "MARRIAGE"], dtype=float)
    return features, data["label"], {"default": sex}


def adult(folder):
    data = read(folder, "adult").dropna().reset_index(drop=True)
    race = data["race"].str.strip().map(lambda name: name.lower() if name in ("White", "Black") else "other")
    features = pd.get_dummies(data.drop(columns=["label", "split"]), dtype=float)
    return features, data["label"], {"adult_race": race, "adult_sex": data["sex"].str.strip().str.lower()}


def wine(folder):
    data = read(folder, "wine_quality")
    # The grades split into thirds as well as seven values can.
    label = pd.cut(data["label"], [0, 5, 6, 10], labels=["low", "middle", "high"]).astype(str)
    return data.drop(columns=["label", "color"]), label, {"wine": data["color"].astype(str)}


def crime(folder):
    data = read(folder, "communities_crime")
    shares = data[["racePctWhite", "racepctblack", "racePctHisp", "racePctAsian"]].rank()
    # A community belongs to the group whose share in it stands highest among all communities.
    group = pd.Series(np.array(["white", "black", "other", "other"])[shares.to_numpy().argmax(axis=1)])
    label = pd.qcut(data["label"], 3, labels=["low", "middle", "high"]).astype(str)
    features = data.drop(columns=["label", "state", "county", "community", "communityname", "fold"])
    features = features.loc[:, features.isna().mean() < 0.5]
    return features.fillna(features.mean()), label, {"crime": group}


def covtype(folder):
    data = read(folder, "covtype")
    names = ["spruce", "lodgepole", "ponderosa", "cottonwood", "aspen", "douglas", "krummholz"]
    return data.drop(columns="label"), data["label"].map(dict(enumerate(names))), {"covtype": None}


# --- predictions -----------------------------------------------------------------------------------------------------


def write_predictions(path, model, features, label):
    """One score for two classes, the probability of class 1; one column per class for more."""
    probabilities = model.predict_proba(features)
    table = pd.DataFrame({"truth": label.to_numpy()})
    if probabilities.shape[1] == 2:
        table["score"] = [f"{p:.7g}" for p in probabilities[:, 1]]
    else:
        for name, column in zip(model.classes_, probabilities.T):
            table[f"p_{name}"] = [f"{p:.9f}" for p in column]
    # A fixed time in the gzip header, so that the same rows are the same bytes.
    compression = {"method": "gzip", "mtime": 1} if path.suffix == ".gz" else None
    table.to_csv(path, index=False, lineterminator="\n", compression=compression)


def halves(features, label):
    return train_test_split(features, label, test_size=0.5, random_state=SEED, stratify=label)


def logistic(features, label, penalty):
    """The papers' regularising constant multiplies the penalty; scikit-learn's divides it."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=5_000))
    return model.fit(features, label)


def predictions(folder, out, wanted):
    for name, load, suffix in [("magic", magic, "csv.gz"), ("wdbc", wdbc, "csv")]:
        if name in wanted:
            train, test, train_label, test_label = halves(*load(folder))
            for penalty in [10, 1]:
                model = logistic(train, train_label, penalty)
                write_predictions(out / f"{name}_{penalty}.{suffix}", model, test, test_label)
                print(f"{name}, penalty {penalty}: accuracy {model.score(test, test_label):.3f}", flush=True)
    if "vehicle" in wanted:
        features, label = vehicle(folder)
        order = np.random.default_rng(SEED).permutation(len(label))
        for percent in [50, 75, 100]:
            part = order[: len(label) * percent // 100]
            train, test, train_label, test_label = halves(features.iloc[part], label.iloc[part])
            model = logistic(train, train_label, 1)
            write_predictions(out / f"vehicle_{percent}.csv", model, test, test_label)
            print(f"vehicle, {percent} %: accuracy {model.score(test, test_label):.3f}", flush=True)


def for_people(folder, out, wanted):
    """The tables of `equipoise bench people` that are not there already: a few thousand held-out rows, four decimals."""
    for name, load, groups in [("wine", wine, None), ("covtype", covtype, None), ("adult", adult, "adult_sex")]:
        if name not in wanted:
            continue
        features, label, group = load(folder)
        chosen = np.random.default_rng(SEED).permutation(len(label))[:40_000]
        features, label = features.iloc[chosen].reset_index(drop=True), label.iloc[chosen].reset_index(drop=True)
        rows = train_test_split(
            np.arange(len(label)), test_size=min(4_000, len(label) // 2), random_state=SEED, stratify=label
        )
        train, test = rows[0][:8_000], rows[1]
        model = logistic(features.iloc[train], label.iloc[train], 1)
        table = pd.DataFrame({"truth": label.iloc[test].to_numpy()})
        for klass, column in zip(model.classes_, model.predict_proba(features.iloc[test]).T):
            table[f"p_{klass}"] = [f"{p:.4f}" for p in column]
        if groups:
            table["group"] = group[groups].iloc[chosen].to_numpy()[test]
        path = out / f"{groups or name}.csv.gz"
        table.to_csv(path, index=False, lineterminator="\n", compression={"method": "gzip", "mtime": 1})
        print(f"{name}: accuracy {model.score(features.iloc[test], label.iloc[test]):.3f}", flush=True)


# --- pools -----------------------------------------------------------------------------------------------------------


def models():
    """Eighty classifiers, twenty of each family: (name, estimator)."""
    weights = [("plain", None), ("balanced", "balanced")]
    strengths = np.logspace(-4, 1, 10)
    for (word, weight), c in itertools.product(weights, strengths):
        yield f"logistic-{word}-{c:.4g}", LogisticRegression(C=c, class_weight=weight, max_iter=300)
    for hidden, alpha in itertools.product([(4,), (8,), (16,), (32,), (16, 8)], [1e-4, 1e-2, 1.0, 10.0]):
        name = "x".join(map(str, hidden))
        yield f"perceptron-{name}-{alpha:g}", MLPClassifier(hidden, alpha=alpha, max_iter=25, random_state=SEED)
    for (word, weight), c in itertools.product(weights, np.logspace(-4, 0, 5)):
        yield f"svm-linear-{word}-{c:.4g}", LinearSVC(C=c, class_weight=weight, random_state=SEED)
        kernel = Nystroem(gamma=0.02, n_components=100, random_state=SEED)
        machine = LinearSVC(C=10 * c, class_weight=weight, random_state=SEED)
        yield f"svm-kernel-{word}-{c:.4g}", make_pipeline(kernel, machine)
    for leaves, trees, (word, weight) in itertools.product([3, 7, 15, 31, 63], [15, 60], weights):
        yield f"lightgbm-{word}-{leaves}-{trees}", boosted(leaves, trees, weight)


def boosted(leaves, trees, weight):
    return lightgbm.LGBMClassifier(
        num_leaves=leaves,
        n_estimators=trees,
        class_weight=weight,
        min_child_samples=10,
        random_state=SEED,
        deterministic=True,
        force_row_wise=True,
        n_jobs=1,
        verbose=-1,
    )


def reweighed():
    """Twenty more, trained for fairness: rows weigh as if group and class were independent, to a power (Kamiran and
    Calders 2012 with power 1)."""
    for power, c in itertools.product([0.5, 1.0, 1.5, 2.0], [1e-3, 1e-2, 1.0]):
        yield f"reweighed-logistic-{power:g}-{c:g}", LogisticRegression(C=c, max_iter=300), power
    for power, leaves in itertools.product([0.5, 1.0, 1.5, 2.0], [3, 31]):
        yield f"reweighed-lightgbm-{power:g}-{leaves}", boosted(leaves, 60, None), power


def independence(groups, label, power):
    cell = pd.crosstab(groups, label, normalize=True)
    expected = np.outer(cell.sum(axis=1), cell.sum(axis=0))
    weight = pd.DataFrame((expected / cell) ** power, index=cell.index, columns=cell.columns)
    return np.array([weight.at[g, y] for g, y in zip(groups, label)])


def fitted(name, estimator, train, label, test, weights=None):
    with warnings.catch_warnings():
        # A network stopped early is a classifier like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(train, label, **({} if weights is None else {"sample_weight": weights}))
    return name, estimator.predict(test)


def pool(folder, out, load, jobs):
    features, label, groupings = load(folder)
    features.columns = [f"x{n}" for n in range(features.shape[1])]
    rows = np.arange(len(label))
    train, test = train_test_split(rows, test_size=0.4, random_state=SEED, stratify=label)
    train, test = train[:TRAINING_ROWS], test[:TEST_ROWS]
    scaler = StandardScaler().fit(features.iloc[train])
    # Plain arrays: LightGBM would remember column names that the others do not see.
    x, z = (scaler.transform(features.iloc[part]).astype(np.float64) for part in (train, test))
    y, truth = label.iloc[train].to_numpy(), label.iloc[test].to_numpy()
    work = [delayed(fitted)(name, model, x, y, z) for name, model in models()]
    shared = Parallel(n_jobs=jobs)(work)
    for name, groups in groupings.items():
        estimates = list(shared)
        if groups is not None:
            of = groups.iloc[train].to_numpy()
            work = [delayed(fitted)(n, m, x, y, z, independence(of, y, power)) for n, m, power in reweighed()]
            estimates += Parallel(n_jobs=jobs)(work)
        write_pool(out / f"{name}.csv", estimates, truth, None if groups is None else groups.iloc[test].to_numpy())
        accuracy = Metric.named("accuracy", classes=label.nunique())
        correct = [accuracy(truth, estimate, labels=np.unique(truth)) for _, estimate in estimates]
        print(f"{name}: {len(estimates)} models on {len(truth)} rows, accuracy {min(correct):.3f} to {max(correct):.3f}")


def write_pool(path, estimates, truth, groups):
    """Counts by model, group, true class and predicted class, zeros included."""
    classes = np.unique(truth)
    levels = [classes, classes] if groups is None else [np.unique(groups), classes, classes]
    keys = (["group"] if groups is not None else []) + ["truth", "estimate"]
    cells = pd.MultiIndex.from_product(levels, names=keys)
    parts = []
    for name, estimate in estimates:
        counts = confusion_counts(truth, estimate, labels=classes, sensitive_features=groups)
        part = pd.DataFrame({"count": counts.astype(int).reshape(-1)}, index=cells).reset_index()
        part.insert(0, "model", name)
        parts.append(part)
    pd.concat(parts).to_csv(path, index=False, lineterminator="\n")


POOLS = {"default": default, "adult": adult, "wine": wine, "crime": crime, "covtype": covtype}
TABLES = ["magic", "wdbc", "vehicle"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=pathlib.Path, help="the folder of raw data sets")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where predictions and pools go")
    parser.add_argument("--only", help=f"a list out of {','.join([*TABLES, *POOLS])}")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",") if arguments.only else [*TABLES, *POOLS]
    unknown = set(wanted) - {*TABLES, *POOLS}
    if unknown:
        parser.error(f"--only names {', '.join(sorted(unknown))}, expected some of {', '.join([*TABLES, *POOLS])}")

    for part in ["predictions", "pools"]:
        (arguments.out / part).mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    predictions(arguments.data, arguments.out / "predictions", wanted)
    for_people(arguments.data, arguments.out / "predictions", wanted)
    for name, load in POOLS.items():
        if name in wanted:
            pool(arguments.data, arguments.out / "pools", load, arguments.jobs)
            print(f"{time.perf_counter() - start:.0f} s so far", flush=True)


if __name__ == "__main__":
    main()
