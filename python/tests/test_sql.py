"""Rows that stay in a database come to the same numbers as rows in memory, and nothing but counts leaves it."""

import math
import sqlite3

import numpy as np
import pytest
from databases import PLACES, Places, quoted, sqlite
from seed import SEED

from equipoise import Interview, Metric, Space, elicit, rank_models, simulated_expert


@pytest.fixture(scope="module")
def places():
    found = Places()
    yield found
    found.close()


def two(rows=4_000, digits=3):
    random = np.random.default_rng(SEED)
    p = random.random(rows)
    y = (random.random(rows) < p).astype(np.int64)
    return {
        "y": y,
        "p": np.round(p, digits) if digits else p,
        "g": random.choice(["f", "m"], rows),
        "one": np.where(random.random(rows) < 0.2, 1 - y, y),
        "other": (p > 0.3).astype(np.int64),
        "w": random.integers(1, 5, rows) / 7.0,
    }


def three(rows=1_500):
    random = np.random.default_rng(SEED + 1)
    p = random.dirichlet([1.0, 1.0, 1.0], rows)
    y = (random.random((rows, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    names = np.array(["home", "intensive", "ward"])
    table = {"y": names[y], **{f"p_{name}": p[:, n] for n, name in enumerate(names)}}
    return {**table, "g": random.choice(["f", "m"], rows), "w": random.random(rows) + 0.5}


def in_memory(table, scores, *, groups=True, weight=False):
    proba = table[scores] if isinstance(scores, str) else np.column_stack([table[name] for name in scores])
    return Space.from_predictions(
        table["y"],
        proba,
        sensitive_features={"g": table["g"]} if groups else None,
        sample_weight=table["w"] if weight else None,
    )


@pytest.mark.parametrize("place", PLACES)
def test_two_classes_come_to_the_same_bits(places, place):
    table = two()
    space = places.space(place, table, truth="y", scores="p", group="g")
    memory = in_memory(table, "p")
    assert (space.classes, space.groups, space.summary()) == (memory.classes, memory.groups, memory.summary())
    np.testing.assert_array_equal(space.prevalence, memory.prevalence)
    for family in ("linear", "diagonal_linear", "group_fair"):
        assert space.document(family) == memory.document(family)
    for options in ({}, {"per_group": True}, {"requirements": ["recall:1>=0.9", "fpr:1@f<=0.6"]}):
        assert space.best_threshold("6:1", **options).document == memory.best_threshold("6:1", **options).document
    np.testing.assert_array_equal(space.decision_curve().net_benefit, memory.decision_curve().net_benefit)
    for rule in ({}, {"threshold": 0.3}, {"threshold": 0.0}, {"rewards": [[1.0, 0.0], [-2.5, 1.7]]}):
        np.testing.assert_array_equal(space.counts(**rule), memory.counts(**rule))
        assert space.score("7:1", **rule) == memory.score("7:1", **rule)
    found, expected = space.best_rule("f2"), memory.best_rule("f2")
    assert found[1] == expected[1] and (found[0] == expected[0]).all()


@pytest.mark.parametrize("place", PLACES)
def test_labels_of_models_are_ranked_with_the_same_bits(places, place):
    table = two()
    space = places.space(place, table, truth="y", scores="p", group="g")
    models = {name: table[name] for name in ("one", "other")}
    expected = rank_models(table["y"], models, metric="6:1", sensitive_features={"g": table["g"]}, draws=200)
    found = space.rank(list(models), metric="6:1", draws=200)
    assert (found.standings, found.statement) == (expected.standings, expected.statement)
    assert str(found).endswith("Intervals: rows are drawn again together (multinomial over 16 counts).")
    assert space.score("accuracy", "one") == pytest.approx((table["y"] == table["one"]).mean(), abs=1e-15)


@pytest.mark.parametrize("place", PLACES)
def test_more_classes_come_to_the_same_bits(places, place):
    table, scores = three(300 if place == "spark" else 1_500), ["p_home", "p_intensive", "p_ward"]
    # Columns are found by their names, whatever their order.
    space = places.space(place, table, truth="y", scores=scores[::-1], group="g")
    memory = in_memory(table, scores)
    np.testing.assert_array_equal(space.counts(), memory.counts())
    if place in ("spark", "adbc", "ibis"):  # a second or more for each of thirty statements
        return
    assert (space.classes, space.summary()) == (memory.classes, memory.summary())
    assert space.document("linear") == memory.document("linear")
    assert space.document("diagonal_linear") == memory.document("diagonal_linear")
    found, expected = space.best_rule("accuracy"), memory.best_rule("accuracy")
    assert found[1] == expected[1] and (found[0] == expected[0]).all()


@pytest.mark.parametrize("place", ["duckdb", "polars"])
def test_questions_about_more_classes_are_the_same(places, place):
    table, scores = three(800), ["p_home", "p_intensive", "p_ward"]
    space, memory = places.space(place, table, truth="y", scores=scores, group="g"), in_memory(table, scores)
    assert space.document("linear", "model") == memory.document("linear", "model")
    assert space.document("group_fair") == memory.document("group_fair")
    assert str(Interview(space).question()) == str(Interview(memory).question())


@pytest.mark.parametrize("place", PLACES)
def test_weighted_rows_agree_to_rounding(places, place):
    table = two()
    space = places.space(place, table, truth="y", scores="p", group="g", weight="w")
    memory = in_memory(table, "p", weight=True)
    np.testing.assert_allclose(space.prevalence, memory.prevalence, rtol=1e-12)
    np.testing.assert_allclose(space.counts(threshold=0.3), memory.counts(threshold=0.3), rtol=1e-12)
    found, expected = space.best_threshold("6:1", draws=0), memory.best_threshold("6:1", draws=0)
    assert found.measured == expected.measured
    np.testing.assert_allclose(found.measured_value, expected.measured_value, rtol=1e-12)
    table = three(300)
    scores = ["p_home", "p_intensive", "p_ward"]
    space = places.space(place, table, truth="y", scores=scores, group="g", weight="w")
    np.testing.assert_allclose(space.counts(), in_memory(table, scores, weight=True).counts(), rtol=1e-12)


@pytest.mark.parametrize("place", ["duckdb", "postgresql", "polars"])
def test_weights_of_many_rows_do_not_lose_digits(places, place):
    # Added up one after the other, so many weights of few values are off in the eleventh digit.
    table = two(rows=200_000 if place == "postgresql" else 2_000_000)
    space = places.space(place, table, truth="y", scores="p", weight="w")
    classes = [math.fsum(table["w"][table["y"] == label]) for label in (0, 1)]
    np.testing.assert_allclose(space.prevalence[0], np.array(classes) / math.fsum(table["w"]), rtol=1e-14)
    accepted = (table["p"] >= 0.3) & (table["y"] == 1)
    np.testing.assert_allclose(space.counts(threshold=0.3)[0][1][1], math.fsum(table["w"][accepted]), rtol=1e-13)
    np.testing.assert_allclose(space.prevalence, in_memory(table, "p", groups=False, weight=True).prevalence, rtol=1e-13)


@pytest.mark.parametrize("place", ["duckdb", "postgresql", "adbc", "polars", "spark"])
@pytest.mark.parametrize("column", ["p", "w"])
def test_what_is_not_a_number_is_missing(places, place, column):
    table = two(rows=300)
    table[column] = np.where(np.arange(300) % 100 == 7, np.nan, table[column])
    with pytest.raises(ValueError, match=f"column '{column}' has no value in 3 of 300 rows"):
        places.space(place, table, truth="y", scores="p", weight="w")


def test_an_expert_is_understood_without_a_row(places):
    space = places.space("duckdb", two(), truth="y", scores="p")
    outcome = elicit(space, simulated_expert(Metric.named("6:1")))
    assert outcome.metric.cost_ratio == pytest.approx(6.0, rel=0.1)
    assert space.best_threshold(outcome.metric).bayes == pytest.approx(1 / 7, abs=0.02)


@pytest.mark.parametrize("place", ["sqlite3", "duckdb", "postgresql", "polars"])
def test_more_scores_than_buckets_are_counted_in_buckets(places, place):
    table = two(rows=150_000, digits=None)
    space = places.space(place, table, truth="y", scores="p", group="g")
    assert space.summary()["scores"].startswith("counted in 65,536 parts")
    # The same rows with the lower end of its part for each score.
    floored = {**table, "p": np.floor(table["p"] * 65_536) / 65_536}
    memory = in_memory(floored, "p")
    assert space.document("linear") == memory.document("linear")
    found, expected = space.best_threshold("6:1", draws=20), memory.best_threshold("6:1", draws=20)
    assert (found.bayes_value, found.measured_value) == (expected.bayes_value, expected.measured_value)
    # A threshold is the end of a part, so that the rows it accepts are counted and not guessed.
    exact = in_memory(table, "p").counts(threshold=found.measured)
    np.testing.assert_array_equal(space.counts(threshold=found.measured), exact)
    assert "thresholds are ends of parts" in found.warnings[-1]
    assert found.measured_value == in_memory(table, "p").score("6:1", threshold=found.measured)


class Watched:
    """A connection that writes down what was asked and what left."""

    def __init__(self, connection):
        self.connection, self.left = connection, []

    def cursor(self):
        return WatchedCursor(self.connection.cursor(), self.left)


class WatchedCursor:
    def __init__(self, cursor, left):
        self.cursor, self.left, self.statement = cursor, left, None

    def execute(self, statement):
        self.statement = statement
        return self.cursor.execute(statement)

    def fetchmany(self, size):
        rows = self.cursor.fetchmany(size)
        self.left.append((self.statement, rows))
        return rows

    @property
    def description(self):
        return self.cursor.description

    def close(self):
        self.cursor.close()

    def __getattr__(self, name):
        raise AssertionError(f"{name} could take rows out unseen")


@pytest.mark.parametrize("digits", [2, None])
def test_nothing_but_counts_leaves_the_database(digits):
    rows = 200_000
    table = two(rows=rows, digits=digits)
    watched = Watched(sqlite("predictions", table))
    Watched.__module__ = "sqlite3"
    space = Space.from_sql(watched, table="predictions", truth="y", scores="p", group="g")
    space.document("linear"), space.best_threshold("6:1", draws=10), space.rank(["one", "other"], metric="6:1", draws=10)
    assert len(watched.left) == space._source.asked > 4
    different = min(len(np.unique(table["p"])), 65_537)
    for statement, left in watched.left:
        assert statement.startswith("SELECT ") and "COUNT(" in statement, statement
        assert len(left) <= different * 4 < rows * (1 if digits else 2), statement
        if "GROUP BY" in statement:
            assert sum(row[-1] for row in left) == rows, statement
        else:
            assert len(left) == 1, statement
    # Without buckets there would be as many counts as rows.
    assert max(len(left) for _, left in watched.left) < rows


@pytest.mark.parametrize("place", PLACES)
def test_names_are_names_whatever_is_in_them(places, place):
    table = two(600, digits=1)
    odd = {"select": table["y"], 'p"; DROP TABLE x; --': table["p"], "größe %s {a} 'g'": table["g"], "`b`": table["one"]}
    truth, score, group, model = odd
    space = places.space(place, odd, table='my "Table" 😀', truth=truth, scores=score, group=group)
    memory = in_memory(table, "p")
    assert space.document("linear") == memory.document("linear")
    assert space.score("accuracy", model) == pytest.approx((table["y"] == table["one"]).mean(), abs=1e-15)


@pytest.fixture
def connection():
    table = two(300, digits=1)
    table["text"] = np.array([f"about {p}" for p in table["p"]])
    table["percent"], table["logit"], table["id"] = 100 * table["p"], 8 * table["p"] - 4, np.arange(300)
    made = sqlite("predictions", table)
    made.execute('ALTER TABLE "predictions" ADD COLUMN "hole" REAL')
    made.execute('UPDATE "predictions" SET "hole" = "p" WHERE rowid > 7')
    made.execute('CREATE TABLE "empty" AS SELECT * FROM "predictions" WHERE 1 = 0')
    made.execute('CREATE TABLE "same" AS SELECT 1 AS y, p FROM "predictions"')
    made.commit()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scores": "q"}, "table predictions has no column 'q'; it has y, p, g, one, other, w, text, percent, logit, id, hole"),
        ({"truth": "Y"}, "table predictions has no column 'Y'; it has y, p, "),
        ({"table": "nobody"}, r"table nobody cannot be read: no such table: nobody; a schema is named as table=\('schema', 'name'\)"),
        ({"table": "empty"}, "table empty has no rows"),
        ({"table": "same"}, "column 'y' has the class 1 only, expected two or more"),
        ({"scores": "hole"}, "column 'hole' has no value in 7 of 300 rows; query="),
        ({"scores": "text"}, "column 'text' has no value in 300 of 300 rows"),
        ({"scores": "percent"}, r"column 'percent' is outside \[0, 1\] in \d+ of 300 rows .* percentages are read with query="),
        ({"scores": "logit"}, r"column 'logit' is outside \[0, 1\] in .* logits are read with query="),
        ({"truth": "id"}, "column 'id' has 300 different values, expected at most 256 classes"),
        ({"scores": ["p", "other"]}, "columns p, other do not sum to 1 in .* of 300 rows"),
        ({"scores": ["p", "w", "hole"]}, "column 'hole' has no value"),
        ({"scores": {0: "p", 2: "p"}}, r"scores are for the classes \[0, 2\], expected \[0, 1\] as in column 'y'"),
        ({"weight": "logit"}, "column 'logit' has weights below 0"),
        ({"labels": [0, 1, 2]}, r"column 'y' has the classes \[0, 1, 2\]; scores names a column for each of them"),
        ({"labels": [0, 2]}, "column 'y' has the class '1', which is not among the labels"),
        ({"query": "SELECT 1"}, "expected table= or query=, and not both"),
        ({"scores": []}, "scores are empty"),
        ({"table": "a\0b"}, "expected one without a NUL"),
    ],
)  # fmt: skip
def test_one_clear_sentence_for_what_is_wrong(connection, options, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Space.from_sql(connection, **{"table": "predictions", "truth": "y", "scores": "p", **options})


def test_what_is_no_connection_is_said(connection):
    with pytest.raises(TypeError, match="connection is a str, expected one of DB-API 2 or ADBC"):
        Space.from_sql("predictions.db", table="predictions", truth="y", scores="p")
    with pytest.raises(TypeError, match="frame is a dict, expected a LazyFrame of Polars"):
        Space.from_lazy({}, truth="y", scores="p")
    with pytest.raises(TypeError, match="table is a dict, expected a table of Ibis"):
        Space.from_ibis({}, truth="y", scores="p")
    with pytest.raises(TypeError, match="frame is a dict, expected a DataFrame of Spark"):
        Space.from_spark({}, truth="y", scores="p")
    space = Space.from_sql(connection, table="predictions", truth="y", scores="p")
    with pytest.raises(ValueError, match="table predictions has no column 'nobody'; it has y, p"):
        space.rank(["one", "nobody"], metric="6:1")
    with pytest.raises(ValueError, match="column 'text' has the label '.*', expected one of"):
        space.score("6:1", "text")
    with pytest.raises(ValueError, match="the metric has the classes 1, 0, the space 0, 1; pos_label="):
        space.best_threshold(Metric.named("6:1").with_class_names(["1", "0"]))
    with pytest.raises(ValueError, match="this needs predictions, and a law has none"):
        Space.from_document({"kind": "logistic", "slope": 5}).best_threshold("6:1")


def test_rows_that_come_while_it_is_read_are_noticed(connection):
    table = three(300)
    busy = sqlite("predictions", table)
    space = Space.from_sql(busy, table="predictions", truth="y", scores=["p_home", "p_intensive", "p_ward"])
    busy.execute('INSERT INTO "predictions" SELECT * FROM "predictions" LIMIT 5')
    with pytest.raises(ValueError, match="table predictions had 300 rows and now has 305: it changed while it was read"):
        space.counts()
    busy.close()


def test_a_query_and_a_schema_are_tables_too(places, connection):
    query = 'SELECT "y", "percent" / 100.0 AS p FROM "predictions";'
    space = Space.from_sql(connection, query=query, truth="y", scores="p")
    named = Space.from_sql(connection, table=("main", "predictions"), truth="y", scores="p")
    assert space._predictions.rows() == named._predictions.rows() == 300


def test_other_types_of_classes_and_of_numbers_are_read(places):
    table = two(500, digits=2)
    expected = in_memory(table, "p", groups=False)
    as_bool = places.space("duckdb", {"y": table["y"] == 1, "p": table["p"].astype(np.float32)}, truth="y", scores="p")
    assert as_bool.classes == [False, True]
    single = Space.from_predictions(table["y"] == 1, table["p"].astype(np.float32).astype(np.float64))
    assert as_bool.document("linear") == single.document("linear")
    connection = places.space("postgresql", table, truth="y", scores="p")._source.engine._connection
    query = f"SELECT CAST(y AS NUMERIC) AS y, CAST(p AS NUMERIC(5, 2)) AS p FROM {quoted('predictions')}"
    assert Space.from_sql(connection, query=query, truth="y", scores="p").document("linear") == expected.document("linear")
    words = {"y": np.where(table["y"] == 1, "ill", "well"), "p_ill": table["p"]}
    space = places.space("sqlite3", words, truth="y", scores="p_ill")
    assert space.classes == ["well", "ill"], "the column says what it is about"


def test_too_many_labels_are_drawn_model_by_model_and_said(places, monkeypatch):
    monkeypatch.setattr("equipoise._elsewhere.MOST_CELLS", 12)
    table = two()
    space = places.space("sqlite3", table, truth="y", scores="p", group="g")
    found = space.rank(["one", "other"], metric="accuracy", draws=200)
    assert "each model is drawn by itself (Dirichlet on its counts)" in str(found)
    (best, *_), expected = found.standings, max((table["y"] == table[name]).mean() for name in ("one", "other"))
    assert best.value == pytest.approx(expected) and best.interval[0] < expected < best.interval[1]


def test_the_connection_is_left_as_it_was(connection):
    connection.execute('INSERT INTO "same" VALUES (0, 0.5)')
    Space.from_sql(connection, table="predictions", truth="y", scores="p")
    assert connection.in_transaction, "nobody committed what is not ours"
    connection.rollback()
    assert connection.execute('SELECT COUNT(*) FROM "same" WHERE y = 0').fetchone() == (0,)
    assert isinstance(connection, sqlite3.Connection)
