"""Finds the metric an expert holds, and puts it to work.

Machine-learning teams optimise metrics nobody chose. Equipoise shows pairs of classifiers that could be built from the
data, asks which is better, and recovers the cost of each error from a few dozen answers. The result is a
:class:`Metric`: evaluate it, score and rank models with it, set thresholds. :func:`choose` does the same for candidates
with attributes: which point of a Pareto front is yours.

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import doors, estimators, export, plots
    from .choice import Choice, choose
    from .chosen import ChoiceQuestion, Chosen, Ranked
    from .estimators import BlackBoxClassifier, PostShiftClassifier, ThresholdClassifier
    from .interview import Interview, Outcome, elicit, simulated_expert
    from .metric import Metric
    from .question import Question
    from .ranking import Ranking, kendall_tau, ndcg, nearest_named_metric, rank_models
    from .scoring import confusion_counts, elicited_score
    from .space import Space
    from .thresholds import DecisionCurve, ThresholdAdvice, best_threshold, decision_curve

_HOME = {
    "Choice": "choice",
    "ChoiceQuestion": "chosen",
    "Chosen": "chosen",
    "Ranked": "chosen",
    "choose": "choice",
    "Metric": "metric",
    "confusion_counts": "scoring",
    "elicited_score": "scoring",
    "Space": "space",
    "Interview": "interview",
    "Question": "question",
    "Outcome": "interview",
    "elicit": "interview",
    "simulated_expert": "interview",
    "Ranking": "ranking",
    "rank_models": "ranking",
    "nearest_named_metric": "ranking",
    "kendall_tau": "ranking",
    "ndcg": "ranking",
    "ThresholdAdvice": "thresholds",
    "best_threshold": "thresholds",
    "DecisionCurve": "thresholds",
    "decision_curve": "thresholds",
    "ThresholdClassifier": "estimators",
    "PostShiftClassifier": "estimators",
    "BlackBoxClassifier": "estimators",
}
_MODULES = ("doors", "estimators", "export", "plots")

__all__ = [
    "BlackBoxClassifier",
    "Choice",
    "ChoiceQuestion",
    "Chosen",
    "DecisionCurve",
    "Interview",
    "Metric",
    "Outcome",
    "PostShiftClassifier",
    "Question",
    "Ranked",
    "Ranking",
    "Space",
    "ThresholdAdvice",
    "ThresholdClassifier",
    "best_threshold",
    "choose",
    "confusion_counts",
    "decision_curve",
    "doors",
    "elicit",
    "elicited_score",
    "estimators",
    "export",
    "kendall_tau",
    "ndcg",
    "nearest_named_metric",
    "plots",
    "rank_models",
    "simulated_expert",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("equipoise")
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
