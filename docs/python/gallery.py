"""Pieces of code with what a notebook shows for them; reference.py writes the page.

Each piece goes on where the one before it ended. What its last line is worth is shown: its HTML, its drawing, or its text.
"""

import ast
import io
from html import escape

PIECES = {
    "What can be built": """
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from equipoise import *

X, benign = load_breast_cancer(return_X_y=True)
y = np.where(benign == 1, "benign", "malignant")
model = make_pipeline(StandardScaler(), LogisticRegression())
proba = cross_val_predict(model, X, y, cv=5, method="predict_proba")
space = Space.from_predictions(y, proba)
space
""",
    "A question of two classes": """
interview = Interview(space)
interview.question()
""",
    "What comes out": """
doctor = simulated_expert("8:1", noise={"kind": "logistic", "slope": 200}, random_state=1)
for question in interview:
    interview.answer(doctor(question), shown=question.shown())
outcome = interview.result()
outcome
""",
    "The metric": """
metric = outcome.metric
metric
""",
    "The classifiers that thresholds make, and the best of them": """
plots.feasible_region(space, metric=metric)
""",
    "How sure the ratio is": """
plots.cost_ratio(metric)
""",
    "Where to cut": """
best_threshold(y, proba, metric=metric, draws=100)
""",
    "What acting on the probabilities gains": """
plots.decision_curve(decision_curve(y, proba), metric=metric)
""",
    "Which model is best for this doctor": """
rule = ThresholdClassifier(model, metric, random_state=0).fit(X, y)
ranking = rank_models(y, {"cut at one half": model.fit(X, y).predict(X), "cut for the doctor": rule.predict(X)}, metric=metric)
ranking
""",
    "The same as a drawing": """
plots.ranking(ranking)
""",
    "A question of three classes: two kinds of error differ": """
X3, y3 = load_wine(return_X_y=True)
y3 = np.array(["barolo", "grignolino", "barbera"])[y3]
proba3 = cross_val_predict(LogisticRegression(max_iter=3000, C=0.001), X3, y3, cv=5, method="predict_proba")
Interview(Space.from_predictions(y3, proba3)).question()
""",
    "Costs as a table": """
Metric.from_costs([[0, 1, 4], [2, 0, 1], [9, 3, 0]], labels=["barbera", "barolo", "grignolino"])
""",
    "A question about candidates": """
front = {
    "model": ["m1", "m2", "m3", "m4", "m5", "m6"],
    "latency_ms": [20, 35, 60, 120, 300, 480],
    "price_usd": [9, 4, 3, 6, 2, 8],
    "recall": [0.70, 0.78, 0.85, 0.91, 0.89, 0.95],
}
choose(front)
""",
    "The candidate that is yours": """
choose(front, oracle={"latency_ms": 1, "price_usd": 1, "recall": 2})
""",
}


def shown(value):
    """What a notebook would show."""
    if hasattr(value, "_repr_html_"):
        return value._repr_html_()
    if hasattr(value, "figure"):
        picture = io.StringIO()
        value.figure.savefig(picture, format="svg", bbox_inches="tight")
        return picture.getvalue()[picture.getvalue().index("<svg") :]
    return f"<pre>{escape(str(value))}</pre>"


def page(style):
    """The whole gallery."""
    import matplotlib

    matplotlib.use("Agg")
    space, parts = {}, []
    for title, code in PIECES.items():
        tree = ast.parse(code)
        last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, title, "exec"), space)
        value = eval(compile(last, title, "eval"), space)
        parts.append(f"<h2>{escape(title)}</h2><pre>{escape(code.strip())}</pre>{shown(value)}")
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>equipoise: gallery</title><style>{style}</style>"
    return head + "<h1>What notebooks show</h1><p><a href='index.html'>Reference</a></p>" + "\n".join(parts)
