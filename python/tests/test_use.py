"""A metric at work: scikit-learn's searches, fairlearn's frames, other tools, thresholds."""

import numpy as np
import pytest
from seed import SEED

from equipoise import Metric, Space, best_threshold, decision_curve, elicited_score, export, nearest_named_metric
from equipoise import rank_models

random = np.random.default_rng(SEED)
pytest.importorskip("sklearn")

from sklearn.datasets import load_breast_cancer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

MODEL = make_pipeline(StandardScaler(), LogisticRegression())


def test_cross_validation_scores_with_the_metric():
    X, y = load_breast_cancer(return_X_y=True)
    metric = Metric.named("7:1")
    scores = cross_val_score(MODEL, X, y, scoring=metric.to_scorer(), cv=3)
    assert len(scores) == 3 and np.isfinite(scores).all()


def test_thresholds_are_tuned_by_the_metric():
    X, y = load_breast_cancer(return_X_y=True)
    costly = TunedThresholdClassifierCV(MODEL, scoring=Metric.named("50:1").to_scorer(), cv=3).fit(X, y)
    cheap = TunedThresholdClassifierCV(MODEL, scoring=Metric.named("1:50").to_scorer(), cv=3).fit(X, y)
    assert costly.best_threshold_ < cheap.best_threshold_


def test_metric_frames_take_the_metric():
    fairlearn = pytest.importorskip("fairlearn.metrics")
    truth, estimate, group = random.integers(0, 2, 400), random.integers(0, 2, 400), random.choice(["a", "b"], 400)
    metric = Metric.named("7:1")
    frame = fairlearn.MetricFrame(metrics=metric, y_true=truth, y_pred=estimate, sensitive_features=group)
    assert frame.overall == pytest.approx(metric(truth, estimate))
    assert frame.by_group["a"] == pytest.approx(metric(truth[group == "a"], estimate[group == "a"]))
    assert frame.by_group.name == metric.__name__ == "cost_ratio_7"
    assert Metric.__name__ == "Metric"


def test_metric_frames_take_several_metrics_with_weights():
    fairlearn = pytest.importorskip("fairlearn.metrics")
    pd = pytest.importorskip("pandas")
    truth, estimate, weight = random.integers(0, 2, 400), random.integers(0, 2, 400), random.random(400)
    people = pd.DataFrame({"sex": random.choice(["f", "m"], 400), "age": random.choice(["old", "young"], 400)})
    costly, plain = Metric.named("7:1"), Metric.named("accuracy")
    frame = fairlearn.MetricFrame(
        metrics={"costly": costly, "plain": plain, "rate": fairlearn.selection_rate},
        y_true=pd.Series(truth), y_pred=pd.Series(estimate), sensitive_features=people,
        sample_params={"costly": {"sample_weight": weight}},
    )  # fmt: skip
    chosen = ((people["sex"] == "f") & (people["age"] == "old")).to_numpy()
    found = frame.by_group.loc[("f", "old")]
    assert found["costly"] == pytest.approx(costly(truth[chosen], estimate[chosen], sample_weight=weight[chosen]))
    assert found["plain"] == pytest.approx((truth == estimate)[chosen].mean())
    assert frame.overall["costly"] == pytest.approx(costly(truth, estimate, sample_weight=weight))
    assert frame.difference()["plain"] >= 0


def test_the_best_threshold_is_best_of_all():
    p = random.random(300)
    y = (random.random(300) < p).astype(int)
    metric = Metric.named("3:1")
    advice = best_threshold(y, p, metric=metric, draws=20)
    tried = [metric(y, (p >= t).astype(int)) for t in [*np.unique(p), 2.0]]
    assert advice.measured_value == pytest.approx(max(tried), abs=1e-12)
    assert metric(y, (p >= advice.measured).astype(int)) == pytest.approx(advice.measured_value, abs=1e-12)
    assert advice.bayes == pytest.approx(0.25)
    low, high = advice.measured_interval
    assert low <= high


def test_requirements_that_cannot_be_met_are_said():
    advice = best_threshold([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], metric=Metric.named("3:1"), draws=0,
                            requirements=["recall:1>=0.9", "fpr:1<=0.1"])  # fmt: skip
    with pytest.raises(ValueError, match="no threshold meets"):
        _ = advice.threshold


def test_the_decision_curve_is_the_formula():
    p = random.random(200)
    y = random.random(200) < p
    curve = decision_curve(y, p, thresholds=[0.2])
    tp, fp = ((p >= 0.2) & y).mean(), ((p >= 0.2) & ~y).mean()
    assert curve.net_benefit[0] == pytest.approx(tp - fp * 0.2 / 0.8, abs=1e-12)


def test_metrics_have_the_values_of_their_formulas():
    counts = random.integers(1, 50, size=(2, 2)).astype(float)
    (tn, fp), (fn, tp) = counts
    prevalence = counts.sum(axis=1) / counts.sum()
    assert Metric.named("accuracy").value(counts) == pytest.approx((tp + tn) / counts.sum(), abs=1e-12)
    f1 = Metric.named("f1", prevalence=prevalence)
    assert f1.value(counts) == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=1e-12)


def test_probabilities_are_scored_softly():
    y, p = np.array([0, 1, 1]), np.array([0.25, 0.5, 1.0])
    soft = Metric.named("accuracy").expected(y, p)
    assert soft == pytest.approx((0.75 + 0.5 + 1.0) / 3)


def test_named_metrics_are_recognised():
    pool = [[[60 - f, f], [m, 40 - m]] for f, m in random.integers(1, 30, size=(60, 2))]
    assert nearest_named_metric(Metric.named("accuracy"), pool)[0]["kendall"] == pytest.approx(1.0)


def test_records_name_truth_and_estimate():
    document = {"format": 1, "kind": "linear", "measure": "off_diagonal_rates", "sense": "cost",
                "classes": ["well", "ill"], "weights": [0.9, 0.6]}  # fmt: skip
    records = export.cost_records(Metric(document), prevalence=[0.9, 0.1])
    assert records == [
        {"truth": "well", "estimate": "ill", "cost": pytest.approx(1.0)},
        {"truth": "ill", "estimate": "well", "cost": pytest.approx(6.0)},
    ]
    with pytest.raises(ValueError, match="needs prevalence="):
        export.cost_records(Metric(document))


def test_fairlearn_gets_costs_by_name():
    pytest.importorskip("fairlearn.reductions")
    found = export.to_fairlearn(Metric.named("6:1"))
    assert (found.fp_cost, found.fn_cost) == (1.0, 6.0)


def test_empulse_agrees_on_the_cost():
    metrics = pytest.importorskip("empulse.metrics")
    y, p = random.integers(0, 2, 100), random.random(100)
    loss = metrics.expected_cost_loss(y, p, **export.to_empulse(Metric.named("6:1")))
    assert loss == pytest.approx(np.where(y == 1, 6 * (1 - p), p).mean())


def test_oxonfair_gets_a_group_metric():
    pytest.importorskip("oxonfair")
    found = export.to_oxonfair(Metric.named("accuracy"))
    assert found.func(30, 10, 10, 50) == pytest.approx(0.8)


def test_oxonfair_maximises_the_metric():
    oxonfair = pytest.importorskip("oxonfair")
    truth, group = random.integers(0, 2, 600), random.integers(0, 2, 600)
    p = np.clip(0.5 * truth + 0.25 + random.normal(0, 0.2, 600) + 0.1 * group, 0, 1)
    metric, rows = Metric.named("4:1"), {"target": truth, "data": np.column_stack([1 - p, p]), "groups": group}
    fitted = oxonfair.FairPredictor(None, rows)
    fitted.fit(export.to_oxonfair(metric))
    found = metric(truth, np.asarray(fitted.predict(rows)).astype(int))
    assert found >= metric(truth, (p >= 0.5).astype(int))
    table = fitted.evaluate(metrics={"worth": export.to_oxonfair(metric)}, verbose=False)
    assert table.loc["worth", "updated"] == pytest.approx(found)


def test_counts_in_arrays_are_scored_at_once():
    value = export._of_counts(Metric.named("accuracy"))
    np.testing.assert_allclose(value(np.array([30, 1]), np.array([10, 1]), np.array([10, 1]), np.array([50, 1])), [0.8, 0.5])


@pytest.mark.parametrize("name", ["7:1", "balanced_accuracy"])
def test_mlflow_evaluates_the_metric(name, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    pd = pytest.importorskip("pandas")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", tmp_path.as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_experiment("equipoise")
    metric = Metric.named(name)
    truth = random.integers(0, 2, 200)
    rows = pd.DataFrame({"y": truth, "guess": np.where(random.random(200) < 0.2, 1 - truth, truth)})
    result = mlflow.models.evaluate(
        data=rows, targets="y", predictions="guess", extra_metrics=[export.to_mlflow(metric, "worth")]
    )
    assert result.metrics["worth"] == pytest.approx(metric(rows["y"], rows["guess"]), abs=1e-12)
    found = export.to_mlflow(metric)
    assert found.greater_is_better and found.name == "elicited"
    with pytest.raises(ValueError, match="has 1 rows, expected 2"):
        found.eval_fn(rows["guess"][:1], rows["y"][:2])


def test_plots_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from equipoise import elicit, plots, simulated_expert

    p = random.random(800)
    y = (random.random(800) < p).astype(int)
    space = Space.from_predictions(y, p)
    metric = elicit(space, simulated_expert(Metric.named("3:1"))).metric
    axes = [
        plots.feasible_region(space, metric=metric),
        plots.cost_ratio(metric),
        plots.decision_curve(decision_curve(y, p), metric=metric),
        plots.ranking(rank_models(y, {"a": p > 0.3, "b": p > 0.7}, metric=metric, draws=100)),
    ]
    assert all(ax.get_title() and ax.get_xlabel() for ax in axes)


def test_scores_of_costs_are_negated():
    metric = Metric({"format": 1, "kind": "linear", "measure": "off_diagonal", "sense": "cost", "weights": [1, 5]})
    assert elicited_score([1, 0], [0, 0], metric=metric) == pytest.approx(-2.5)


def test_costs_are_a_metric():
    pd = pytest.importorskip("pandas")
    costs = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0]])
    names = ["low", "medium", "high"]
    truth, estimate = random.choice(names, size=(2, 200))
    expected = np.mean([costs[names.index(a), names.index(b)] for a, b in zip(truth, estimate)])
    assert Metric.from_costs(costs, names)(truth, estimate) == pytest.approx(expected)
    frame = pd.DataFrame(costs, index=names, columns=names)
    assert Metric.from_costs(frame)(truth, estimate) == pytest.approx(expected)
    # Rows, columns and labels of a frame go by their names: labels in another order gave every cost to another mistake.
    turned = names[::-1]
    for shuffled in (frame.loc[turned], frame[turned], frame.loc[turned, turned], frame.loc[turned].reset_index(drop=True)[turned]):
        for labels in (None, names, turned):
            metric = Metric.from_costs(shuffled, labels)
            assert metric(truth, estimate) == pytest.approx(expected)
            assert labels is None or metric.class_names == labels
    renamed = frame.rename(columns=lambda name: f"says {name}", index=lambda name: f"is {name}")
    assert Metric.from_costs(renamed, names)(truth, estimate) == pytest.approx(expected)
    with pytest.raises(ValueError, match="expected the same classes in both"):
        Metric.from_costs(renamed)
    with pytest.raises(ValueError, match="on its diagonal, expected 0 for what is right"):
        Metric.from_costs([[1, 2], [3, 0]])
    with pytest.raises(ValueError, match="expected as many rows as columns"):
        Metric.from_costs([[0, 2]])
    with pytest.raises(ValueError, match="costs has nan, expected finite numbers"):
        Metric.from_costs([[0, np.nan], [7, 0]], ["well", "ill"])
    with pytest.raises(ValueError, match="names has 'ill' 2 times, expected names that differ"):
        Metric.from_costs([[0, 1], [7, 0]], ["ill", "ill"])


def test_the_package_has_a_version_and_a_command(tmp_path):
    import os
    import subprocess
    import sys

    import equipoise

    try:
        assert equipoise.__version__[0].isdigit()
    except ImportError:
        pytest.skip("the package is not installed")
    run = [sys.executable, "-m", "equipoise", "--version"]
    without = subprocess.run(run, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True)
    assert without.returncode == 2 and without.stderr.startswith("equipoise: the command is not on the PATH")
    command = tmp_path / "equipoise"
    command.write_text(f"#!{sys.executable}\nimport sys\nprint(sys.argv[1:])\nsys.exit(3)\n")
    command.chmod(0o755)
    found = subprocess.run(run, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (3, "['--version']\n")


def test_a_frozen_model_is_kept_in_cross_validation():
    frozen = pytest.importorskip("sklearn.frozen")
    from equipoise import ThresholdClassifier

    pd = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = MODEL.fit(X, y)
    rule = ThresholdClassifier(frozen.FrozenEstimator(model), "9:1", threshold="bayes")
    scores = cross_val_score(rule, X, y, scoring=Metric.named("9:1").to_scorer(), cv=3)
    assert np.isfinite(scores).all()
    fitted = rule.fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), model.predict_proba(X))
    assert list(fitted.feature_names_in_) == list(X.columns) and isinstance(X, pd.DataFrame)
