"""Columns come in many kinds and are read where they lie."""

import numpy as np
import pytest

from equipoise import _inputs, best_threshold, confusion_counts, decision_curve, elicited_score
from equipoise import Metric, Space
from seed import SEED

random = np.random.default_rng(SEED)


@pytest.fixture
def rows():
    truth, estimate = random.integers(0, 3, size=(2, 500))
    return truth, estimate


def wrapped(kind, column):
    """The same column in another library's clothes."""
    if kind == "list":
        return column.tolist()
    module = pytest.importorskip(kind.split(".")[0])
    if kind == "pyarrow.chunked":
        return module.chunked_array([column[:100], column[100:]])
    if kind == "pyarrow.table":
        return module.table({"y": column})
    return module.array(column) if kind == "pyarrow" else module.Series(column)


KINDS = ["list", "pandas", "polars", "pyarrow", "pyarrow.chunked", "pyarrow.table"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strings", [False, True])
def test_every_kind_of_column_counts_alike(kind, strings, rows):
    columns = [np.array(["cat", "dog", "eel"])[c] if strings else c for c in rows]
    expected = confusion_counts(*columns)
    np.testing.assert_array_equal(confusion_counts(*[wrapped(kind, c) for c in columns]), expected)


class Capsule:
    """Nothing but the Arrow PyCapsule interface."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


class StreamCapsule:
    """Nothing but the Arrow PyCapsule interface for streams."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_stream__(self, requested_schema=None):
        return self.array.__arrow_c_stream__(requested_schema)


def test_arrow_capsules_are_read(rows):
    pa = pytest.importorskip("pyarrow")
    expected = confusion_counts(*rows)
    np.testing.assert_array_equal(confusion_counts(*[Capsule(pa.array(c)) for c in rows]), expected)
    streams = [StreamCapsule(pa.chunked_array([c[:9], c[9:]])) for c in rows]
    np.testing.assert_array_equal(confusion_counts(*streams), expected)


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "pyarrow"])
def test_plain_columns_are_not_copied(kind):
    column = np.arange(1000) % 2
    given = column if kind == "numpy" else wrapped(kind, column)
    read = _inputs.column(given, "y")
    (coded,), _, _ = _inputs.coded({"y": given})
    assert np.shares_memory(read, coded)
    if kind == "numpy":
        assert np.shares_memory(read, column)
    elif kind == "pyarrow":
        assert read.__array_interface__["data"][0] == given.buffers()[1].address
    else:
        assert np.shares_memory(read, given.to_numpy())


@pytest.mark.parametrize("kind", ["pyarrow", "polars"])
def test_chunks_are_walked_where_they_lie_and_may_be_cut_differently(kind):
    module = pytest.importorskip(kind)
    truth, estimate = random.integers(-2, 3, size=(2, 300_000))
    cuts = [np.sort(random.integers(0, 300_000, 7)) for _ in range(2)]
    pieces = [np.split(column, cut) for column, cut in zip((truth, estimate), cuts, strict=True)]
    if kind == "pyarrow":
        given = [module.chunked_array([piece.astype(dtype) for piece in some])
                 for some, dtype in zip(pieces, ("i8", "i1"), strict=True)]  # fmt: skip
        found = _inputs._pieces(given[0], "y")
        places = [chunk.buffers()[1].address for chunk in given[0].chunks]
        assert [piece.__array_interface__["data"][0] for piece in found if len(piece)] == [
            place for place, chunk in zip(places, given[0].chunks, strict=True) if len(chunk)
        ]
    else:
        given = [module.concat([module.Series(piece) for piece in some], rechunk=False) for some in pieces]
        assert len(_inputs._pieces(given[0], "y")) == given[0].n_chunks() > 1
    np.testing.assert_array_equal(confusion_counts(*given), confusion_counts(truth, estimate))
    weights, groups = random.random(300_000), random.integers(0, 3, 300_000)
    np.testing.assert_allclose(
        confusion_counts(*given, sample_weight=weights, sensitive_features=groups),
        confusion_counts(truth, estimate, sample_weight=weights, sensitive_features=groups),
        rtol=1e-12,
    )
    row = np.argmax((truth == 2) | (estimate == 2))
    with pytest.raises(ValueError, match=rf"has the label 2 in row {row}, which"):
        confusion_counts(*given, labels=[-2, -1, 0, 1])
    with pytest.raises(ValueError, match="y_pred has 299999 rows, expected 300000"):
        confusion_counts(given[0], given[1][:-1])


def test_empty_chunks_and_missing_labels():
    pa = pytest.importorskip("pyarrow")
    empty, some = pa.array([], pa.int64()), pa.array([0, 1, 1])
    assert confusion_counts(pa.chunked_array([empty, some, empty]), some)[0].tolist() == [[1, 0], [0, 2]]
    with pytest.raises(ValueError, match="y_true has a missing label"):
        confusion_counts(pa.chunked_array([some, pa.array([None], pa.int64())]), [0, 1, 1, 0])
    words = pa.chunked_array([["ham"], ["spam", "spam"]])
    assert confusion_counts(words, words)[0].tolist() == [[1, 0], [0, 2]]


def test_labels_fix_the_order_and_pos_label_comes_last():
    truth, estimate = ["a", "b", "b"], ["a", "a", "b"]
    assert confusion_counts(truth, estimate, labels=["b", "a"])[0].tolist() == [[1, 1], [0, 1]]
    assert confusion_counts(truth, estimate, pos_label="a")[0].tolist() == [[1, 1], [0, 1]]


def test_groups_in_data_frames_are_crossed(rows):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"sex": random.choice(["f", "m"], 500), "old": random.choice([True, False], 500)})
    by_group = confusion_counts(*rows, sensitive_features=frame)
    np.testing.assert_array_equal(by_group, confusion_counts(*rows, sensitive_features=dict(frame)))
    np.testing.assert_array_equal(by_group, confusion_counts(*rows, sensitive_features=frame.to_numpy()))


def test_missing_labels_and_bad_probabilities_are_named():
    with pytest.raises(ValueError, match="y_true has a missing label"):
        confusion_counts([0, None], [0, 1])
    with pytest.raises(ValueError, match="y_proba is nan in row 1, column 0"):
        Space.from_predictions([0, 1], [0.5, np.nan])
    with pytest.raises(ValueError, match="y_proba is 1.5 in row 1"):
        Space.from_predictions([0, 1], [0.5, 1.5])
    with pytest.raises(ValueError, match="y_proba has 3 rows, expected 2 as in y_true"):
        Space.from_predictions([0, 1], [0.5, 0.5, 0.5])
    with pytest.raises(ValueError, match="y_proba has 3 columns"):
        Space.from_predictions([0, 1], np.full((2, 3), 1 / 3))
    with pytest.raises(TypeError, match="sample_weight holds"):
        confusion_counts([0, 1], [0, 1], sample_weight=["a", "b"])
    with pytest.raises(ValueError, match="recal"):
        best_threshold([0, 1], [0.2, 0.8], metric=Metric.named("6:1"), requirements=["recal>=0.9"], draws=0)
    with pytest.raises(ValueError, match="a threshold is for 2 classes"):
        best_threshold([0, 1, 2], np.eye(3), metric=Metric.named("accuracy", classes=3), draws=0)


def test_probabilities_from_data_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    p = random.random(300)
    y = random.random(300) < p
    expected = decision_curve(y, p).net_benefit
    both = np.column_stack([1 - p, p])
    for given in (both, pd.DataFrame(both), pl.DataFrame({"no": 1 - p, "yes": p}), pd.Series(p), p.tolist()):
        np.testing.assert_array_equal(decision_curve(y, given).net_benefit, expected)


def test_weights_count_rows_several_times():
    truth, estimate, weight = random.integers(0, 2, 50), random.integers(0, 2, 50), random.integers(1, 4, 50)
    metric = Metric.named("7:1")
    again = elicited_score(np.repeat(truth, weight), np.repeat(estimate, weight), metric=metric, labels=[0, 1])
    assert elicited_score(truth, estimate, metric=metric, sample_weight=weight, labels=[0, 1]) == pytest.approx(again)
