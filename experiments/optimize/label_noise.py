"""Section 7.7.1 on smaller images: labels are flipped with probability .6 (9 to 1, 2 to 0, 4 to 7, 3 and 5 into each other);
maximise accuracy. The paper trains a ResNet on CIFAR-10; here a linear model sees 8 by 8 images, and digits."""

import argparse

import numpy as np
from common import Results, arguments, cross_fit, data, logistic, optimize, searched_in_python, table
from sklearn.model_selection import train_test_split

FLIPS = {9: 1, 2: 0, 4: 7, 3: 5, 5: 3}


def flipped(labels, probability, random):
    noisy = labels.copy()
    flip = random.random_sample(len(labels)) < probability
    for source, target in FLIPS.items():
        noisy[flip & (labels == source)] = target
    return noisy


def digits(args):
    frame = data(args, "digits.csv.gz")
    x, y = frame.drop(columns="label").to_numpy() / 16.0, frame["label"].to_numpy()

    def split(seed):
        rest, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
        train, validation = train_test_split(rest, test_size=0.25, stratify=y[rest], random_state=seed)
        return train, validation, test

    return x, y, split, {"C": 0.1}


def cifar(args):
    frame = data(args, "cifar10_8x8.csv.gz")
    first = (frame["split"] == "train").to_numpy()
    x, y = frame.drop(columns=["label", "split"]).to_numpy() / 255.0, frame["label"].to_numpy()

    def split(seed):
        # The paper keeps 2 % of the training images clean; a tenth of the images is enough for a linear model.
        train, validation = train_test_split(np.flatnonzero(first), test_size=0.02, stratify=y[first], random_state=seed)
        train, _ = train_test_split(train, train_size=5000, stratify=y[train], random_state=seed)
        return train, validation, np.flatnonzero(~first)

    return x, y, split, {"C": 0.01}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="?", choices=["digits", "cifar10_8x8"], default="digits")
    args = arguments(__doc__, parser)
    x, y, split, options = digits(args) if args.set == "digits" else cifar(args)
    results = Results(f"{args.set}, label noise .6: accuracy on the test rows (Table 7.3)")
    for seed in args.seeds:
        train, validation, test = split(seed)
        noisy = flipped(y[train], 0.6, np.random.RandomState(seed))
        model = logistic(x[train], noisy, **options)
        fair = cross_fit(x[train], noisy, seed, **options)
        frame = lambda rows: table(y[rows], model.predict_proba(x[rows]))
        tables = table(noisy, fair), frame(validation), frame(test)
        take = lambda method, *more: results.take(
            optimize(args, *tables, "--metric", "accuracy", *more), method
        )
        take("PI-EW, diagonal", "--form", "diagonal", "--iterations", "1")
        take("PI-EW, general", "--form", "general", "--iterations", "1")
        take("FW-EG, general", "--form", "general")
        take("FW-EG, general, 2 clusters", "--form", "general", "--basis", "kmeans:2", "--select", "never")
        # Frank-Wolfe on the validation rows alone has nothing to learn from their accuracy; a search has.
        results.add("PostShiftClassifier, in Python", searched_in_python(model, x, y, validation, test))
    papers = {"model as it is": ".582 +- .007", "plug in": ".733 +- .044", "PI-EW, diagonal": ".781 +- .019"}
    required = {"FW-EG, general": 0.88} if args.set == "digits" else {}
    return 0 if results.print(papers, required) else 1


if __name__ == "__main__":
    raise SystemExit(main())
