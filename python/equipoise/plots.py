"""Plots, with matplotlib (``pip install equipoise[plots]``). Every function draws on ``ax`` or a new figure's axes."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks
from .metric import Metric
from .ranking import Ranking
from .space import Space
from .thresholds import DecisionCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _ink(ax: Axes) -> Any:
    """The colour of the text, which every style makes readable."""
    return ax.xaxis.label.get_color()


def feasible_region(space: Space, *, metric: Metric | str | None = None, ax: Axes | None = None) -> Axes:
    """The classifiers of two classes that could be built: shares found against shares cleared.

    With a linear ``metric``, its best classifier is marked.
    """
    document = space.document("linear")
    if document.get("kind") != "hull":
        raise ValueError(f"the space is a {document.get('kind')}, expected predictions of two classes")
    ax = _axes(ax)
    hull = np.asarray(document["vertices"])
    around = np.vstack([hull, hull[:1]])
    ax.fill(around[:, 0], around[:, 1], alpha=0.25, label="can be built")
    ax.plot(around[:, 0], around[:, 1], lw=1)
    metric = Metric.named(metric) if isinstance(metric, str) else metric
    if metric is not None and metric.cost_ratio is not None:
        best = hull[np.argmax(hull @ np.array([metric.cost_ratio, 1.0]))]
        ax.plot(*best, "o", label=f"best at {metric.cost_ratio:.3g} : 1")
    ax.set(xlabel="true positives, share of all", ylabel="true negatives, share of all", title="Feasible classifiers")
    ax.legend(loc="lower left")
    return ax


def cost_ratio(metric: Metric, *, draws: int = 4000, random_state: int = 0, ax: Axes | None = None) -> Axes:
    """The posterior of the cost ratio: how many false alarms one missed positive is worth."""
    drawn = [draw.cost_ratio for draw in _drawn(metric, draws, random_state)]
    ratios = np.array([ratio for ratio in drawn if ratio is not None and 0 < ratio < np.inf])
    if len(ratios) == 0:
        raise ValueError("the metric carries no posterior of a cost ratio")
    ax = _axes(ax)
    low, high = np.quantile(ratios, [0.001, 0.999])
    ax.hist(ratios, bins=np.geomspace(low, max(high, 1.01 * low), 60).tolist(), density=True, alpha=0.6)
    ax.set_xscale("log")
    for axis in (ax.xaxis.set_major_formatter, ax.xaxis.set_minor_formatter):
        axis("{x:.3g}")
    if metric.cost_ratio is not None:
        ax.axvline(metric.cost_ratio, color=_ink(ax), lw=1, label=f"estimate {metric.cost_ratio:.3g}")
    interval = metric.cost_ratio_interval
    if interval is not None:
        high_end = interval.high if interval.high is not None else float(high)
        ax.axvspan(interval.low, high_end, alpha=0.15, color=_ink(ax), label=f"{interval.level:.0%} interval")
    ax.set(xlabel="false alarms worth one missed positive", ylabel="density", title="Cost ratio")
    ax.legend()
    return ax


def _drawn(metric: Metric, draws: int, seed: int) -> list[Any]:
    core = _checks.instance(metric, Metric, "metric")._core
    return list(core.draws(_checks.whole(draws, "draws"), _checks.whole(seed, "random_state")))


def decision_curve(curve: DecisionCurve, *, metric: Metric | str | None = None, ax: Axes | None = None) -> Axes:
    """Net benefit against the threshold probability; a linear ``metric`` says where on it one stands."""
    ax = _axes(ax)
    ax.plot(curve.threshold, curve.net_benefit, label="by the probabilities")
    ax.plot(curve.threshold, curve.treat_all, "--", label="everybody")
    ax.plot(curve.threshold, curve.treat_none, ":", label="nobody")
    top = float(curve.treat_all[0])
    metric = Metric.named(metric) if isinstance(metric, str) else metric
    if metric is not None and metric.cost_ratio is not None:
        at = 1.0 / (1.0 + metric.cost_ratio)
        ax.axvline(at, color=_ink(ax), lw=1, label=f"the metric's threshold, {at:.3f}")
    ax.set(
        xlabel="threshold probability",
        ylabel="net benefit, true positives per row",
        title="Decision curve",
        ylim=(-0.25 * top, 1.1 * top),
    )
    ax.legend()
    return ax


def ranking(ranked: Ranking, *, ax: Axes | None = None) -> Axes:
    """Models with the intervals of their scores, best on top."""
    ax = _axes(ax)
    standings: list[Any] = list(reversed(ranked.standings))
    for place, standing in enumerate(standings):
        if standing.interval is not None:
            ax.plot(standing.interval, [place, place], color="C0", lw=3, alpha=0.4, solid_capstyle="round")
        ax.plot(standing.value, place, "o", color="C0")
    names = [f"{s.name}\nbest: {s.probability_best:.0%}" for s in standings]
    ax.set_yticks(range(len(standings)), names)
    ax.set(xlabel="value of the metric", ylim=(-0.5, len(standings) - 0.4))
    ax.set_title(fill(ranked.statement, 60), fontsize="medium")
    return ax
