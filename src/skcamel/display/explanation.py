"""Explanation ► bars of one row (average, own part, push of the others, score and threshold), and a map of columns and labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skcamel.display.canvas import DOWN, UP, axes_or_new, literal
from skcamel.text import count

OWN = "#8591a1"
MOST_LABELS = 30  # side by side in a map of columns


def plot_explanation(explanation: Any, row: int = 0, *, k: int = 12, ax: Any = None) -> Any:
    """Draw why a row got its labels: each score as average, own part and push of the others.

    Parameters
    ----------
    explanation : Explanation
        From ``model.explain(X)``, or ``skcamel.explain(pipeline, X)``.
    row : int, default=0
    k : int, default=12
        How many labels: those with the highest score above their threshold.
    ax : matplotlib axes, default=None
        Drawn into; None makes a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel import CamelClassifier
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> ax = plot_explanation(CamelClassifier().fit(X, Y).explain(X[:5]), row=2)
    >>> ax.get_title()
    'row 2'
    """
    return ExplanationDisplay.from_explanation(explanation, row, k=k, ax=ax).ax_


class ExplanationDisplay:
    """Bars that take the scores of one row apart.

    Parameters
    ----------
    base, own, pushed, thresholds : arrays of shape (q,)
        Score of the average row, the label's own part, the push of all others, and the threshold.
    label_names : sequence of str
    title : str, default=""

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`
    """

    def __init__(
        self,
        base: np.ndarray,
        own: np.ndarray,
        pushed: np.ndarray,
        *,
        thresholds: np.ndarray,
        label_names: Any,
        title: str = "",
    ) -> None:
        self.base, self.own, self.pushed, self.thresholds = base, own, pushed, thresholds
        self.label_names = [str(name) for name in label_names]
        self.title = title

    @classmethod
    def from_explanation(
        cls, explanation: Any, row: int = 0, *, k: int = 12, ax: Any = None
    ) -> Self:
        """Draw one row of an explanation; parameters as in :func:`plot_explanation`."""
        _check_row(explanation, row)
        parts = explanation.parts[row]
        own = np.diag(parts)
        named = {
            "thresholds": explanation.thresholds,
            "label_names": explanation.label_names,
            "title": f"row {row}",
        }
        return cls(explanation.base, own, parts.sum(axis=0) - own, **named).plot(k=k, ax=ax)

    def plot(self, *, k: int = 12, ax: Any = None) -> Self:
        """Draw; parameters as in :func:`plot_explanation`."""
        scores = self.base + self.own + self.pushed
        shown = np.argsort(self.thresholds - scores, kind="stable")[:k]
        self.ax_ = axes_or_new(ax, (6.5, 1.2 + 0.3 * len(shown)))
        self.figure_ = self.ax_.figure
        y = np.arange(len(shown))
        base, own, pushed, cuts = (
            array[shown] for array in (self.base, self.own, self.pushed, self.thresholds)
        )
        self.ax_.barh(y, own, left=base, height=0.5, color=OWN, label="own evidence")
        for colour, side, label in (
            (UP, pushed >= 0, "others push up"),
            (DOWN, pushed < 0, "others push down"),
        ):
            self.ax_.barh(
                y[side],
                pushed[side],
                left=(base + own)[side],
                height=0.25,
                color=colour,
                label=label,
            )
        self.ax_.plot(base, y, "|", color="#556070", label="average row")
        self.ax_.plot(
            cuts, y, "|", color="black", markersize=14, markeredgewidth=2, label="threshold"
        )
        self.ax_.plot(scores[shown], y, "o", color="black", markersize=5, label="score")
        self.ax_.set_yticks(y, [literal(self.label_names[j]) for j in shown])
        self.ax_.set(xlabel="score", title=literal(self.title))
        self.ax_.invert_yaxis()
        below = (0.5, -0.12 - 0.6 / max(1, len(shown)))
        self.ax_.legend(
            fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=below, frameon=False
        )
        return self


def plot_columns(
    explained: Any,
    X: Any = None,
    *,
    row: int | None = None,
    k: int = 20,
    sources: Any = None,
    ax: Any = None,
) -> Any:
    """Draw which columns matter to which labels: the mean absolute value of each column over the rows, or the values of one row.

    Parameters
    ----------
    explained : Explanation, or fitted CamelClassifier or CamelClassifierCV
        From ``model.explain(X, features=True)``; of a model the rows `X` are explained first.
    X : array or CSR matrix of shape (m, d), default=None
        Rows to explain where a model is given.
    row : int, default=None
        Draw the values of this row, blue where they raise a score and orange where they lower it;
        None: the mean over all rows.
    k : int, default=20
        How many columns: the strongest ones. Of more than 30 labels those with the strongest
        columns are drawn.
    sources : sequence of d names, default=None
        Which source each column of `X` comes from, as in ``explain``.
    ax : matplotlib axes, default=None
        Drawn into; None makes a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel import CamelClassifier
    >>> X, Y = make_multilabel_classification(60, n_features=5, n_classes=3, random_state=0)
    >>> ax = plot_columns(CamelClassifier().fit(X, Y), X)
    >>> ax.get_title()
    'mean over 60 rows'
    """
    if hasattr(explained, "explain"):
        if X is None:
            raise ValueError(
                "A model alone has no rows to explain; give some as X, or an explanation of some."
            )
        explained = explained.explain(X, features=True, sources=sources)
    return ColumnsDisplay.from_explanation(explained, row, k=k, ax=ax).ax_


class ColumnsDisplay:
    """A map of columns and labels: what each column adds to each score.

    Parameters
    ----------
    values : array of shape (G, q)
    column_names, label_names : sequences of G and q str
    signed : bool, default=False
        Whether values below 0 are meant, and drawn in another colour.
    title : str, default=""

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`
    """

    def __init__(
        self,
        values: np.ndarray,
        *,
        column_names: Any,
        label_names: Any,
        signed: bool = False,
        title: str = "",
    ) -> None:
        self.values, self.signed, self.title = np.asarray(values), signed, title
        self.column_names, self.label_names = (
            [str(name) for name in column_names],
            [str(name) for name in label_names],
        )

    @classmethod
    def from_explanation(
        cls, explanation: Any, row: int | None = None, *, k: int = 20, ax: Any = None
    ) -> Self:
        """Draw all rows of an explanation or one of them; parameters as in :func:`plot_columns`."""
        importance = explanation.importance()
        named = {"column_names": explanation.feature_names, "label_names": explanation.label_names}
        if row is None:
            return cls(
                importance, **named, title=f"mean over {count(len(explanation), 'row')}"
            ).plot(k=k, ax=ax)
        _check_row(explanation, row)
        return cls(explanation.features[row], **named, signed=True, title=f"row {row}").plot(
            k=k, ax=ax
        )

    def plot(self, *, k: int = 20, ax: Any = None) -> Self:
        """Draw; parameters as in :func:`plot_columns`."""
        from matplotlib.colors import LinearSegmentedColormap

        strength = abs(self.values)
        columns = np.argsort(-strength.max(axis=1, initial=0), kind="stable")[:k]
        labels = np.sort(np.argsort(-strength.max(axis=0, initial=0), kind="stable")[:MOST_LABELS])
        shown = self.values[np.ix_(columns, labels)]
        self.ax_ = axes_or_new(ax, (4.0 + 0.3 * len(labels), 1.6 + 0.25 * len(columns)))
        self.figure_ = self.ax_.figure
        largest = float(abs(shown).max(initial=0)) or 1.0
        colours = LinearSegmentedColormap.from_list(
            "columns", [DOWN, "white", UP] if self.signed else ["white", UP]
        )
        image = self.ax_.imshow(
            shown, cmap=colours, vmin=-largest if self.signed else 0, vmax=largest, aspect="auto"
        )
        self.ax_.set_xticks(
            np.arange(len(labels)), [literal(self.label_names[j]) for j in labels], rotation=90
        )
        self.ax_.set_yticks(
            np.arange(len(columns)), [literal(self.column_names[g]) for g in columns]
        )
        what = "added to the score" if self.signed else "mean absolute part of the score"
        self.figure_.colorbar(image, ax=self.ax_, label=what)
        self.ax_.set_title(literal(self.title))
        return self


def _check_row(explanation: Any, row: int) -> None:
    """Refuse a row that an explanation does not have."""
    if not -len(explanation) <= row < len(explanation):
        raise ValueError(
            f"row={row} is not in the explanation, which has {len(explanation)} rows; they are"
            " counted from 0."
        )
