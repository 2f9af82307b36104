"""What turns class probabilities into predictions: thresholds, rewards, votes, draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _core

Floats = NDArray[np.float64]
Groups = NDArray[np.uint16]


class Rule(Protocol):
    """From class probabilities (and groups, by their place) to the places of classes."""

    def __call__(self, probabilities: Floats, groups: Groups | None) -> NDArray[np.int64]: ...


class Thresholds:
    """Accepts the positive class from a threshold on; one for all, or one per group."""

    def __init__(self, thresholds: Sequence[float]) -> None:
        self.thresholds = np.asarray(thresholds, dtype=np.float64)

    def _at(self, groups: Groups | None) -> Any:
        return self.thresholds if len(self.thresholds) == 1 else self.thresholds[needed(groups)]

    def __call__(self, probabilities: Floats, groups: Groups | None) -> NDArray[np.int64]:
        return np.asarray(probabilities[:, 1] >= self._at(groups), dtype=np.int64)

    def scores(self, probabilities: Floats, groups: Groups | None) -> Floats:
        """How far beyond its threshold a row is, by class; the larger one is predicted."""
        # A row at its threshold is accepted, and no number is both at least and above another.
        beyond = probabilities[:, 1] - np.nextafter(self._at(groups), -np.inf)
        return np.column_stack([np.zeros_like(beyond), beyond])


class Rewards:
    """Predicts the class with the largest expected reward."""

    def __init__(self, rewards: Floats) -> None:
        self.rewards = rewards

    def __call__(self, probabilities: Floats, groups: Groups | None) -> NDArray[np.int64]:
        return _core.post_shift_predict(np.ascontiguousarray(probabilities), self.rewards, groups)

    def scores(self, probabilities: Floats, groups: Groups | None) -> Floats:
        """The expected reward of predicting each class."""
        if len(self.rewards) == 1:
            return np.asarray(probabilities @ self.rewards[0])
        return np.asarray(np.einsum("ri,rij->rj", probabilities, self.rewards[needed(groups)]))


class Votes:
    """Rules of Frank-Wolfe that vote with their shares."""

    def __init__(self, document: str) -> None:
        self.document = document

    def __call__(self, probabilities: Floats, groups: Groups | None) -> NDArray[np.int64]:
        columns = [np.ascontiguousarray(column) for column in probabilities.T]
        return _core.frank_wolfe_predict(self.document, columns, groups)


class Draws:
    """Accepts the positive class by chance: from each of a group's cuts on with a larger one."""

    def __init__(self, steps: Sequence[tuple[Sequence[float], Sequence[float]]], seed: int | None) -> None:
        #: Of each group, cuts in order and the chances below the first, between them, and from the last on.
        self.steps = [(np.asarray(cuts), np.asarray(chances)) for cuts, chances in steps]
        self.seed = seed

    def chances(self, probabilities: Floats, groups: Groups | None) -> Floats:
        """How likely every row is accepted."""
        codes = np.zeros(len(probabilities), dtype=np.int64) if len(self.steps) == 1 else needed(groups)
        found = np.empty(len(probabilities))
        for group, (cuts, chances) in enumerate(self.steps):
            rows = codes == group
            found[rows] = chances[np.searchsorted(cuts, probabilities[rows, 1], side="right")]
        return found

    def __call__(self, probabilities: Floats, groups: Groups | None) -> NDArray[np.int64]:
        drawn = np.random.default_rng(self.seed).random(len(probabilities))
        return (drawn < self.chances(probabilities, groups)).astype(np.int64)


def needed(groups: Groups | None) -> Groups:
    """The groups, which a rule that depends on them cannot do without."""
    if groups is None:
        raise ValueError("the rule depends on the group: pass sensitive_features to predict")
    return groups
