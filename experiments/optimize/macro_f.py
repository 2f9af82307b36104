"""Appendix E.8, Table E.1: macro F-measure without noise on COMPAS, Adult and Default."""

import argparse

import numpy as np
import pandas as pd
from common import IN_PYTHON, Results, adult, arguments, data, in_python, logistic, macro_f, optimize, table
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def compas(args):
    frame = data(args, "compas_two_years.csv.gz")
    outputs = ["decile_score", "score_text", "v_decile_score", "v_score_text", "is_recid", "is_violent_recid"]
    y = frame["label"].to_numpy()
    x = frame.drop(columns=outputs + ["label", "c_charge_desc"])
    x = pd.get_dummies(x, dummy_na=True).fillna(0.0).astype(float)
    return StandardScaler().fit_transform(x), y, {"female": (frame["sex"] == "Female").to_numpy().astype(float)}


def default(args):
    frame = data(args, "credit_default.csv.gz")
    y = frame["label"].to_numpy()
    x = pd.get_dummies(frame.drop(columns="label"), columns=["SEX", "EDUCATION", "MARRIAGE"]).astype(float)
    return StandardScaler().fit_transform(x), y, {"female": (frame["SEX"] == 2).to_numpy().astype(float)}


def adult_income(args):
    features, raw, _ = adult(args)
    female = (raw["sex"] == "Female").to_numpy().astype(float)
    return features.drop(columns="income").to_numpy(), raw["label"].to_numpy(), {"female": female}


SETS = {"compas": (compas, ".652"), "adult": (adult_income, ".670"), "default": (default, ".536")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), help="compas, adult, default")
    args = arguments(__doc__, parser)
    for name in args.sets:
        load, paper = SETS[name]
        x, y, extra = load(args)
        results = Results(f"{name}: macro F-measure on the test rows (Table E.1)")
        for seed in args.seeds:
            rest, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
            train, validation = train_test_split(rest, test_size=0.2, stratify=y[rest], random_state=seed)
            model = logistic(x[train], y[train])
            frame = lambda rows: table(
                y[rows], model.predict_proba(x[rows]), **{name: values[rows] for name, values in extra.items()}
            )
            tables = frame(train), frame(validation), frame(test)
            take = lambda method, *more: results.take(optimize(args, *tables, "--metric", "macro_f", *more), method)
            take("FW-EG, all rows")
            take("FW-EG, known, all rows", "--known")
            take("FW-EG, by sex", "--basis", "female")
            results.add(IN_PYTHON, in_python(model, macro_f, x, y, validation, test))
        results.print({"FW-EG, all rows": paper})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
