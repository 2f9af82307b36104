"""Tables as people write them: read as meant, or one sentence that says what helps."""

import io
import re

import numpy as np
import pytest

from equipoise import Metric, Space, best_threshold, confusion_counts, elicited_score

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 60
random = np.random.default_rng(12)
ILL = random.random(ROWS)
Y = np.where(random.random(ROWS) < ILL, "ill", "well")
RAW = random.dirichlet([1.0, 1.0, 1.0], ROWS).round(6)
RAW[:, 2] = 1.0 - RAW[:, 0] - RAW[:, 1]
THREE = np.array(["low", "medium", "high"])
Y3 = THREE[[random.choice(3, p=row / row.sum()) for row in RAW]]
COSTS = Metric.from_costs([[0, 1], [5, 0]], ["well", "ill"])
COSTS3 = Metric.from_costs([[0, 1, 4], [2, 0, 1], [9, 3, 0]], list(THREE))


def two_by_hand(y=Y, ill=ILL):
    """The expected cost of drawing from the probabilities."""
    return (5 * (1 - ill)[y == "ill"].sum() + ill[y == "well"].sum()) / len(y)


def three_by_hand():
    costs = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0]])
    return np.mean([costs[list(THREE).index(label)] @ row for label, row in zip(Y3, RAW)])


def frame3(columns, order=(0, 1, 2), **more):
    return pd.DataFrame({"y": Y3, **more, **{name: RAW[:, n] for name, n in zip(columns, order)}})


def numbered(kind, ones=("ill",)):
    return np.isin(Y, ones).astype(kind)


#: name: the table, how a person reads it, what it must come to.
MEANT = {
    "index column": (pd.DataFrame({"y": Y, "well": 1 - ILL, "ill": ILL}), True,
                     lambda t: COSTS.expected(t["y"], t.drop(columns="y")), two_by_hand),
    "index column and proba": (pd.DataFrame({"y": Y, "proba": ILL}), True,
                               lambda t: COSTS.expected(t["y"], t.drop(columns="y"), pos_label="ill"), two_by_hand),
    "named by class": (frame3(THREE), False, lambda t: COSTS3.expected(t["y"], t[list(THREE)]), three_by_hand),
    "named by class, whole table": (frame3(THREE, id=range(ROWS)), True, lambda t: COSTS3.expected(t["y"], t), three_by_hand),
    "named by class, in another order": (frame3(["high", "low", "medium"], (2, 0, 1)), False,
                                         lambda t: COSTS3.expected(t["y"], t.drop(columns="y")), three_by_hand),
    "p_ in front": (frame3([f"p_{c}" for c in THREE]), False, lambda t: COSTS3.expected(t["y"], t.drop(columns="y")), three_by_hand),
    "a model's name in front": (frame3([f"rf_{c}" for c in THREE]), False,
                                lambda t: COSTS3.expected(t["y"], t.filter(like="rf_")), three_by_hand),
    "capitals and spaces": (frame3([f"P {c.upper()}" for c in THREE]), False,
                            lambda t: COSTS3.expected(t["y"], t.drop(columns="y")), three_by_hand),
    "an array in the order of the classes": (frame3(THREE), False,
                                             lambda t: COSTS3.expected(t["y"], t[["high", "low", "medium"]].to_numpy()), three_by_hand),
    "one column of the positive class": (pd.DataFrame({"y": Y, "p": ILL}), False,
                                         lambda t: COSTS.expected(t["y"], t["p"], pos_label="ill"), two_by_hand),
    "one column that says which class": (pd.DataFrame({"y": Y, "p_ill": ILL}), False,
                                         lambda t: COSTS.expected(t["y"], t["p_ill"]), two_by_hand),
    "one column of the other class": (pd.DataFrame({"y": Y, "p_well": 1 - ILL}), False,
                                      lambda t: COSTS.expected(t["y"], t["p_well"]), two_by_hand),
    "columns 0 and 1": (pd.DataFrame({"y": numbered(int), "0": 1 - ILL, "1": ILL}), False,
                        lambda t: Metric.named("5:1").with_class_names(["0", "1"]).expected(t["y"], t[["1", "0"]]),
                        lambda: Metric.named("5:1").expected(numbered(int), ILL)),
    "proba_1": (pd.DataFrame({"y": numbered(int), "proba_1": ILL}), False,
                lambda t: Metric.named("5:1").expected(t["y"], t["proba_1"]),
                lambda: Metric.named("5:1").expected(numbered(int), ILL)),
    "proba_0": (pd.DataFrame({"y": numbered(int), "proba_0": 1 - ILL}), False,
                lambda t: Metric.named("5:1").with_class_names(["0", "1"]).expected(t["y"], t["proba_0"]),
                lambda: Metric.named("5:1").expected(numbered(int), ILL)),
    "truth values": (pd.DataFrame({"y": numbered(bool), "proba": ILL}), False,
                     lambda t: COSTS.with_class_names(["False", "True"]).expected(t["y"], t["proba"]), two_by_hand),
    "whole numbers with a point": (pd.DataFrame({"y": numbered(float), "proba": ILL}), False,
                                   lambda t: COSTS.with_class_names(["0", "1"]).expected(t["y"], t["proba"]), two_by_hand),
    "yes and no": (pd.DataFrame({"y": np.where(Y == "ill", "yes", "no"), "proba": ILL}), False,
                   lambda t: COSTS.with_class_names(["no", "yes"]).expected(t["y"], t["proba"]), two_by_hand),
}  # fmt: skip


def as_csv(table, index):
    text = table.to_csv(index=index)
    return text


@pytest.mark.parametrize("name", MEANT)
def test_a_table_is_read_as_meant(name):
    table, index, read, by_hand = MEANT[name]
    assert read(pd.read_csv(io.StringIO(as_csv(table, index)))) == pytest.approx(by_hand(), abs=1e-9)


@pytest.mark.parametrize("name", ["named by class", "p_ in front", "named by class, in another order"])
def test_polars_and_arrow_read_it_too(name):
    table, index, _, by_hand = MEANT[name]
    text = as_csv(table, index)
    read = pl.read_csv(io.StringIO(text))
    assert COSTS3.expected(read["y"], read.drop("y")) == pytest.approx(by_hand(), abs=1e-9)
    arrow = read.to_arrow()
    assert COSTS3.expected(arrow["y"], arrow.drop_columns(["y"])) == pytest.approx(by_hand(), abs=1e-9)


def broken(**columns):
    return pd.read_csv(io.StringIO(pd.DataFrame({"y": Y, **columns}).to_csv(index=False)))


def hole(values):
    values = np.array(values, dtype=object)
    values[3] = None
    return values


SENTENCES = {
    "several models": (lambda: COSTS3.expected(Y3, frame3([*(f"rf_{c}" for c in THREE), *(f"lr_{c}" for c in THREE)], (0, 1, 2) * 2)),
                       "y_proba has several columns for the class .* pass those of one model"),
    "two models": (lambda: COSTS.expected(Y, broken(rf=ILL, lr=ILL**2)[["rf", "lr"]]),
                   "y_proba sums to .* of several models, pass the column of one"),
    "a hole in the probabilities": (lambda: COSTS.expected(Y, broken(p=hole(ILL))["p"]), "y_proba is nan in row 3.* leave the row out"),
    "a missing label": (lambda: COSTS.expected(pd.Series(hole(Y)), ILL), "y_true has a missing label in row 3"),
    "percentages": (lambda: best_threshold(Y, broken(p=100 * ILL)["p"], metric="5:1"), "look like percentages: divide by 100"),
    "percentages in text": (lambda: COSTS.expected(Y, broken(p=[f"{100 * p:.0f}%" for p in ILL])["p"]),
                            "text such as '.*%', expected numbers; these are percentages"),
    "decimal commas": (lambda: COSTS.expected(Y, broken(p=[f"{p:.3f}".replace(".", ",") for p in ILL])["p"]),
                       "decimal comma, which read_csv"),
    "numbers in text": (lambda: COSTS.expected(Y, np.array([f"{p:.3f}" for p in ILL], dtype=object)),
                        "text such as .*convert it with astype"),
    "logits": (lambda: Space.from_predictions(Y, broken(s=np.log(ILL / (1 - ILL)))["s"], pos_label="ill"),
               "these look like scores: .*response_method='decision_function'"),
    "names of other classes": (lambda: COSTS3.expected(Y3, frame3(["low", "medium", "urgent"]).drop(columns="y")),
                               "none is about the class 'high'; pass an array and labels="),
    "names against labels": (lambda: Space.from_predictions(Y, broken(ill=ILL, well=1 - ILL)[["ill", "well"]], labels=["well", "ill"]),
                             "labels are .* but the columns of y_proba are named ill, well"),
    "a name against the positive class": (lambda: best_threshold(Y, broken(p_ill=ILL)["p_ill"], metric="5:1", pos_label="well"),
                                          "pos_label is 'well', but the column 'p_ill' of y_proba is about 'ill'"),
    "too many columns": (lambda: Space.from_predictions(Y, broken(a=ILL, b=ILL, c=ILL)[["a", "b", "c"]]),
                         "y_proba has the columns a, b, c, but y_true has the classes .*: pass one column per class"),
    "a class that does not occur": (lambda: Space.from_predictions(Y3[Y3 != "high"], frame3(THREE)[Y3 != "high"]),
                                    "y_proba sums to .*a class that does not occur is named with labels="),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_what_cannot_be_read_is_said_in_one_sentence(name):
    call, sentence = SENTENCES[name]
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    assert re.search(sentence, str(error.value)), str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


PARQUET = {
    "text": pa.table({"y": Y, "p_ill": ILL}),
    "large text": pa.table({"y": pa.array(Y, pa.large_string()), "p_ill": ILL}),
    "a dictionary": pa.table({"y": pa.array(Y).dictionary_encode(), "p_ill": ILL}),
    "single precision": pa.table({"y": Y, "p_ill": pa.array(ILL.astype(np.float32))}),
    "in row groups": pa.concat_tables([pa.table({"y": Y[:20], "p_ill": ILL[:20]}), pa.table({"y": Y[20:], "p_ill": ILL[20:]})]),
    "nullable, without nulls": pa.table({"y": pa.array(Y.tolist(), pa.string()), "p_ill": pa.array(ILL.tolist(), pa.float64())}),
    "truth values": pa.table({"y": numbered(bool), "p_ill": ILL}),
    "an index of pandas": pa.Table.from_pandas(pd.DataFrame({"y": Y, "p_ill": ILL}, index=np.arange(ROWS) + 100)),
}  # fmt: skip


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", PARQUET)
def test_parquet_is_read_as_meant(name, library, tmp_path):
    file = tmp_path / "val.parquet"
    pq.write_table(PARQUET[name], file, row_group_size=25)
    table = {"pandas": pd.read_parquet, "polars": pl.read_parquet, "pyarrow": pq.read_table}[library](file)
    p = ILL.astype(np.float32).astype(float) if name == "single precision" else ILL
    metric = COSTS.with_class_names(["False", "True"]) if name == "truth values" else COSTS
    found = metric.expected(table["y"], table["p_ill"], **({} if name != "truth values" else {}))
    assert found == pytest.approx(two_by_hand(ill=p), abs=1e-9)


KINDS = {
    "pandas categories": lambda y: pd.Series(y, dtype="category"),
    "pandas categories in another order": lambda y: pd.Series(pd.Categorical(y, ["well", "ill", "dead"])),
    "pandas text": lambda y: pd.Series(y, dtype="string"),
    "pandas objects": lambda y: pd.Series(y.astype(object)),
    "pandas with Arrow inside": lambda y: pd.Series(y, dtype=pd.ArrowDtype(pa.string())),
    "polars text": pl.Series,
    "polars categories": lambda y: pl.Series(y, dtype=pl.Categorical),
    "polars enumeration": lambda y: pl.Series(y, dtype=pl.Enum(["well", "ill", "dead"])),
    "Arrow text in chunks": lambda y: pa.chunked_array([y[:7], y[7:]]),
    "an Arrow dictionary in chunks": lambda y: pa.chunked_array([pa.array(y[:7]).dictionary_encode(), pa.array(y[7:]).dictionary_encode()]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_text_of_every_library_counts_alike(kind):
    estimate = np.where(ILL > 0.5, "ill", "well")
    expected = confusion_counts(Y, estimate)
    column = KINDS[kind]
    np.testing.assert_array_equal(confusion_counts(column(Y), column(estimate)), expected)
    np.testing.assert_array_equal(confusion_counts(column(Y), estimate), expected)
    assert elicited_score(column(Y), column(estimate), metric=COSTS) == pytest.approx(elicited_score(Y, estimate, metric=COSTS))
    by_group = confusion_counts(Y, estimate, sensitive_features=column(Y))
    np.testing.assert_array_equal(by_group.sum(axis=0), expected[0])
    with pytest.raises(ValueError, match="y_true has the label 'ill' in row .* not among the labels"):
        confusion_counts(column(Y), column(estimate), labels=["well", "dead"])
