"""A score of classifiers, with the metric somebody holds. Needs Python 3.9 or later and nothing else.

    from scorer import score, scorer

    score(y_true, y_pred)                                   # Score(value, low, high)
    cross_val_score(model, X, y, scoring=scorer)            # scikit-learn

Larger is better: a cost is negated. Equipoise wrote this file; METRIC is the metric's document, DRAWS is what else the
metric may be as far as the answers tell.
"""

import random
from collections import namedtuple

METRIC = {}
DRAWS = []
CLASS_COUNT = 2
GROUP_COUNT = 1
LEVEL = 0.95

#: A value, and the ends of its interval of probability LEVEL.
Score = namedtuple("Score", ["value", "low", "high"])


def score(y_true, y_pred, *, labels=None, sample_weight=None, sensitive_features=None):
    """What predictions are worth, with an interval that allows for the sample and for what is not known of the metric."""
    counts = confusion(
        y_true, y_pred, labels=labels, sample_weight=sample_weight, sensitive_features=sensitive_features
    )
    low, high = interval(counts)
    if METRIC["sense"] == "cost":
        return Score(-value(counts), -high, -low)
    return Score(value(counts), low, high)


def scorer(estimator, X, y, sample_weight=None):
    """The score of a model's predictions, as scikit-learn's searches and cross-validation call it."""
    # A fold may have rows of one class only; the model knows both. Names say more than either.
    labels = None if isinstance(METRIC.get("classes"), list) else getattr(estimator, "classes_", None)
    labels = None if labels is None else list(labels)
    found = value(confusion(y, estimator.predict(X), labels=labels, sample_weight=sample_weight))
    return -found if METRIC["sense"] == "cost" else found


def value(counts):
    """The metric, in its own sense, of counts by true and estimated class, or by group, true and estimated class."""
    return _value(METRIC, _by_group(counts))


def interval(counts, sampling=True, draws=1000, seed=1):
    """The ends of the interval of the metric's value; without `sampling`, for these very counts."""
    groups = _by_group(counts)
    if not sampling:
        return _middle([_value(metric, groups) for metric in _metrics()])
    numbers, metrics = random.Random(seed), _metrics()
    draws = max(draws, len(metrics))
    return _middle([_value(metrics[n % len(metrics)], _resampled(groups, numbers)) for n in range(draws)])


def confusion(y_true, y_pred, *, labels=None, sample_weight=None, sensitive_features=None):
    """Counts, or sums of weights, by group, true class and estimated class."""
    truth, estimate = list(y_true), list(y_pred)
    weights = [1.0] * len(truth) if sample_weight is None else [float(weight) for weight in sample_weight]
    groups = [0] * len(truth) if sensitive_features is None else list(sensitive_features)
    for name, column in (("y_pred", estimate), ("sample_weight", weights), ("sensitive_features", groups)):
        if len(column) != len(truth):
            raise ValueError(f"{name} has {len(column)} rows, expected {len(truth)} as in y_true")
    places = {label: n for n, label in enumerate(_classes(truth, estimate) if labels is None else labels)}
    if len(places) != CLASS_COUNT:
        raise ValueError(f"the labels are {list(places)}, expected {CLASS_COUNT} classes; name them with labels=")
    group_places = {group: n for n, group in enumerate(_ordered(sorted(set(groups)), METRIC.get("group_names")))}
    counts = [[[0.0] * CLASS_COUNT for _ in range(CLASS_COUNT)] for _ in group_places]
    for row, (i, j) in enumerate(zip(truth, estimate)):
        for name, label in (("y_true", i), ("y_pred", j)):
            if label not in places:
                raise ValueError(f"{name} has the label {label!r} in row {row}, which is not among {list(places)}")
        counts[group_places[groups[row]]][places[i]][places[j]] += weights[row]
    return counts


def _classes(truth, estimate):
    """The labels in the order of the metric's classes, by their names where it has some."""
    found = set(truth) | set(estimate)
    names = METRIC.get("classes")
    if isinstance(names, list):
        return _ordered(found, names)
    found = sorted(found)
    if CLASS_COUNT == 2 and len(found) == 1:
        for pair in ([0, 1], [-1, 1]):
            if found[0] in pair:
                return pair
    return found


def _ordered(found, names):
    """What was found in the order of the metric's names; in its own where the metric has none."""
    if names is None:
        return found
    by_name = {_spelled(label): label for label in found}
    if not set(by_name) <= set(map(_spelled, names)):
        raise ValueError(f"found {sorted(by_name)}, but the metric is about {names}")
    return [by_name.get(_spelled(name), name) for name in names]


def _spelled(label):
    """A label as names are compared: a truth value is 0 or 1, and a whole number has no point."""
    text = str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
    return {"false": "0", "true": "1"}.get(text.lower(), text)


def _metrics():
    """What the metric may be; itself where it is certain. A draw has only the fields that differ."""
    return [dict(METRIC, **draw) for draw in DRAWS] or [METRIC]


def _by_group(counts):
    """Shares of all, one matrix per group."""
    groups = [[[float(count) for count in row] for row in group] for group in _nested(counts)]
    total = sum(count for group in groups for row in group for count in row)
    if any(len(group) != CLASS_COUNT or any(len(row) != CLASS_COUNT for row in group) for group in groups):
        raise ValueError(f"the counts have another shape, expected {CLASS_COUNT} classes by {CLASS_COUNT}")
    if not 0.0 < total < float("inf") or any(not count >= 0.0 for group in groups for row in group for count in row):
        raise ValueError(f"the counts sum to {total}, expected counts of at least 0, some of them positive")
    return [[[count / total for count in row] for row in group] for group in groups], total


def _nested(counts):
    """One matrix per group, also where there is one matrix."""
    try:
        counts[0][0][0]
    except (TypeError, IndexError):
        return [counts]
    return counts


def _resampled(groups, numbers):
    """Another sample of as many cases: cells are drawn from the Dirichlet distribution of their counts."""
    shares, total = groups
    drawn = [
        [[numbers.gammavariate(total * share, 1.0) if share > 0.0 else 0.0 for share in row] for row in group]
        for group in shares
    ]
    size = sum(part for group in drawn for row in group for part in row)
    if size <= 0.0:
        return groups
    return [[[part / size for part in row] for row in group] for group in drawn], total


def _point(groups):
    """The entries of the confusion matrix that the metric is about."""
    shares, _ = groups
    measure, classes = METRIC["measure"], range(CLASS_COUNT)
    if measure == "group_rates":
        if len(shares) != GROUP_COUNT:
            raise ValueError(f"sensitive_features have {len(shares)} groups, expected {GROUP_COUNT}")
        return [rate for group in shares for rate in _off_diagonal(_rates(group))]
    whole = [[sum(group[i][j] for group in shares) for j in classes] for i in classes]
    if measure == "binary":
        return [whole[1][1], whole[0][0]]
    matrix = _rates(whole) if measure.endswith("_rates") else whole
    return [matrix[i][i] for i in classes] if measure.startswith("diagonal") else _off_diagonal(matrix)


def _rates(matrix):
    for i, row in enumerate(matrix):
        if not sum(row) > 0.0:
            raise ValueError(f"class {i} never occurs, so it has no rates")
    return [[share / sum(row) for share in row] for row in matrix]


def _off_diagonal(matrix):
    return [matrix[i][j] for i in range(CLASS_COUNT) for j in range(CLASS_COUNT) if i != j]


def _moved(metric, shares):
    """The metric for classes and groups as common as here: an F-measure has their shares among its constants."""
    sizes = [[sum(row) for row in group] for group in shares]
    priors = [sum(group[i] for group in sizes) for i in range(CLASS_COUNT)]
    if metric["kind"] in ("macro_f", "kappa", "mcc"):
        return dict(metric, class_priors=priors)
    if metric["kind"] == "demographic_parity":
        part = [[size / prior if prior > 0.0 else 1.0 / len(sizes) for size, prior in zip(group, priors)] for group in sizes]
        return dict(metric, class_priors=priors, prevalence=part)
    if metric["kind"] == "linear_fractional" and metric["measure"] == "binary":
        (n, zero), (d, minus) = metric["numerator"], metric["denominator"]
        if zero == 0.0 and 0.0 < d < n and minus == -d:
            return dict(metric, denominator_offset=(n - d) * priors[1] + d * (1.0 - priors[1]))
    return metric


def _value(metric, groups):
    metric, point = _moved(metric, groups[0]), _point(groups)
    kind = metric["kind"]
    if kind == "linear":
        return _dot(metric["weights"], point)
    if kind == "linear_fractional":
        return _dot(metric["numerator"], point) / (_dot(metric["denominator"], point) + metric["denominator_offset"])
    if kind == "quadratic":
        return _dot(metric["linear"], point) + 0.5 * _form(metric["quadratic"], point) + metric.get("constant", 0.0)
    if kind == "polynomial":
        return _polynomial(metric["tensors"], point)
    if kind == "macro_f":
        return _macro_f(metric["class_priors"], point)
    if kind in ("kappa", "mcc"):
        return _beyond_chance(kind, metric["class_priors"], point)
    if kind == "g_mean":
        product, recalls = 1.0, _recalls(point) if metric["measure"] == "group_rates" else point
        for recall in recalls:
            product *= recall
        return product ** (1.0 / len(recalls))
    return _parity(metric, point) if kind == "demographic_parity" else _group_fair(metric, point)


def _recalls(point):
    """What is left of each row of error rates."""
    size = CLASS_COUNT - 1
    return [1.0 - sum(point[n : n + size]) for n in range(0, len(point), size)]


def _macro_f(priors, errors):
    """The mean F-measure of the classes, each against the rest."""
    hits, predicted = list(priors), [0.0] * CLASS_COUNT
    pairs = [(i, j) for i in range(CLASS_COUNT) for j in range(CLASS_COUNT) if i != j]
    for (i, j), error in zip(pairs, errors):
        hits[i] -= error
        predicted[j] += error
    below = [sum(parts) for parts in zip(priors, predicted, hits)]
    return sum(2.0 * hit / size if size > 0.0 else 0.0 for hit, size in zip(hits, below)) / CLASS_COUNT


def _beyond_chance(kind, priors, errors):
    """Cohen's kappa, or Matthews' correlation: correct predictions beyond those of chance."""
    predicted = list(priors)
    pairs = [(i, j) for i in range(CLASS_COUNT) for j in range(CLASS_COUNT) if i != j]
    for (i, j), error in zip(pairs, errors):
        predicted[i] -= error
        predicted[j] += error
    chance = sum(prior * share for prior, share in zip(priors, predicted))
    below = 1.0 - chance
    if kind == "mcc":
        squares = [1.0 - sum(share * share for share in shares) for shares in (priors, predicted)]
        below = max(squares[0] * squares[1], 0.0) ** 0.5
    return (sum(priors) - sum(errors) - chance) / below if below > 1e-12 else 0.0


def _polynomial(tensors, point):
    total, factorial = 0.0, 1.0
    for order, tensor in enumerate(tensors, 1):
        factorial *= order
        while len(tensor) > 1:
            tensor = [_dot(tensor[n : n + len(point)], point) for n in range(0, len(tensor), len(point))]
        total += tensor[0] / factorial
    return total


def _group_fair(metric, point):
    """Mistakes, and differences between the groups, traded against each other."""
    size = len(metric["performance"])
    groups = [point[n : n + size] for n in range(0, len(point), size)]
    truths = [i for i in range(CLASS_COUNT) for j in range(CLASS_COUNT) if i != j]
    mistakes = sum(
        weight * shares[i] * rate
        for shares, rates in zip(metric["prevalence"], groups)
        for weight, i, rate in zip(metric["performance"], truths, rates)
    )
    unequal = 0.0
    for pair in metric["fairness"]:
        u, v = (groups[g] for g in pair["groups"])
        difference = [x - y for x, y in zip(u, v)]
        if "matrix" in pair:
            unequal += 0.5 * _form(pair["matrix"], difference)
        else:
            unequal += _dot(pair["weights"], [abs(x) for x in difference])
    return (1.0 - metric["trade_off"]) * mistakes + metric["trade_off"] * unequal


def _parity(metric, point):
    """The largest difference between two groups in how often a class is predicted."""
    size, wanted, covered = CLASS_COUNT * (CLASS_COUNT - 1), metric["estimate"], []
    pairs = [(i, j) for i in range(CLASS_COUNT) for j in range(CLASS_COUNT) if i != j]
    for g, shares in enumerate(metric["prevalence"]):
        joint = [prior * share for prior, share in zip(metric["class_priors"], shares)]
        coverage = joint[wanted]
        for (i, j), rate in zip(pairs, point[g * size : (g + 1) * size]):
            coverage += rate * joint[i] * ((j == wanted) - (i == wanted))
        covered.append(coverage / sum(joint))
    return max(covered) - min(covered)


def _dot(weights, point):
    return sum(weight * x for weight, x in zip(weights, point))


def _form(matrix, point):
    return sum(x * _dot(row, point) for row, x in zip(matrix, point))


def _middle(values):
    """The ends of the middle part of the values; ends between two of them are interpolated."""
    ordered, tail = sorted(values), 0.5 * (1.0 - LEVEL)
    return _quantile(ordered, tail), _quantile(ordered, 1.0 - tail)


def _quantile(ordered, share):
    last = len(ordered) - 1
    position = min(share * last * (1.0 + 2.0**-52), last)
    below = int(position)
    part, above = position - below, ordered[min(below + 1, last)]
    return ordered[below] + (part if part >= 1e-9 else 0.0) * (above - ordered[below])
