"""Sensitivity and convergence: the drawn points are the data, the axes say what they show."""

import statistics
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")

from matplotlib import pyplot

from skcamel import CamelClassifier, display
from skcamel.display import ConvergenceDisplay, SensitivityDisplay, plot_convergence, plot_sensitivity
from skcamel.display.sensitivity import plot_figure1
from skcamel.metrics import NAMES


@pytest.fixture(autouse=True)
def no_window():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def result(rng):
    values = {"alpha": [0.0, 0.5, 1.0], "lambda1": [0.1, 1.0, 10.0], "lambda2": [0.01, 0.1]}
    curves = {name: {"values": v} | {metric: rng.random((len(v), 4)).tolist() for metric in NAMES} for name, v in values.items()}
    base = {"alpha": 0.5, "lambda1": 1.0, "lambda2": 0.1}
    return {"dataset": "my_$et$", "base": base, "curves": curves, "convergence": {"delta": [5.0, 1.0, 0.2]} | base}


@pytest.mark.parametrize("parameter", ["alpha", "lambda1", "lambda2"])
@pytest.mark.parametrize("metric", ["coverage", "micro_f1"])
def test_means_and_band_are_those_of_the_folds(result, parameter, metric):
    ax = plot_sensitivity(result, parameter, metric=metric)
    curve, mark = ax.lines
    folds = result["curves"][parameter][metric]
    assert curve.get_ydata() == pytest.approx([statistics.fmean(row) for row in folds])
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(max(statistics.fmean(row) + statistics.stdev(row) for row in folds))
    assert heights.min() == pytest.approx(min(statistics.fmean(row) - statistics.stdev(row) for row in folds))
    assert mark.get_xdata()[0] == result["base"][parameter]
    assert ax.get_xscale() == ("linear" if parameter == "alpha" else "log")
    assert ax.get_ylabel().endswith("(mean ± std)")
    assert ("↓" in ax.get_ylabel()) == (metric == "coverage")
    ax.figure.canvas.draw()  # the name of the set holds what matplotlib could take for a formula


def test_undefined_folds_are_left_out():
    shown = SensitivityDisplay([0.1, 1.0], [[0.2, None, 0.4], [np.nan, np.nan, np.nan]], parameter="lambda1", metric="coverage")
    assert shown.means[0] == pytest.approx(0.3)
    assert np.isnan(shown.means[1])
    shown.plot().figure_.canvas.draw()


def test_one_fold_has_a_band_without_width():
    shown = SensitivityDisplay([0.1, 1.0], [[0.2], [0.4]], parameter="lambda1", metric="coverage")
    assert shown.stds.tolist() == [0, 0]


def test_convergence_starts_with_the_first_alternation(result):
    ax = plot_convergence(result)
    (curve,) = ax.lines
    assert curve.get_xydata().tolist() == [[1, 5.0], [2, 1.0], [3, 0.2]]
    assert ax.get_yscale() == "log"
    assert plot_convergence(result, scale="linear").get_yscale() == "linear"
    ax.figure.canvas.draw()


def test_convergence_of_a_fitted_model(rng):
    X, Y = rng.random((20, 3)), rng.integers(0, 2, (20, 3))
    model = CamelClassifier(solver="alternating").fit(X, Y)
    assert ConvergenceDisplay.from_estimator(model).delta.tolist() == model.convergence_.tolist()
    with pytest.raises(ValueError, match="solver='alternating'"):
        ConvergenceDisplay.from_estimator(CamelClassifier().fit(X, Y))


def test_figure_1_has_four_panels_without_overlaps(result):
    figure = plot_figure1(result)
    assert len(figure.axes) == 4
    assert [ax.get_title("left") for ax in figure.axes] == ["(a)", "(b)", "(c)", "(d)"]
    figure.draw_without_rendering()
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert not pyplot.get_fignums()


def test_axes_given_are_used(result):
    _, axes = pyplot.subplots(1, 2)
    assert plot_sensitivity(result, "alpha", ax=axes[0]) is axes[0]
    assert plot_convergence(result, ax=axes[1]) is axes[1]


def test_wrong_requests_are_refused(result):
    with pytest.raises(ValueError, match="parameter"):
        plot_sensitivity(result, "beta")
    with pytest.raises(ValueError, match="metric"):
        plot_sensitivity(result, "alpha", metric="accuracy")
    with pytest.raises(ValueError, match="one row of folds for each value"):
        SensitivityDisplay([0.1], [[0.1], [0.2]], parameter="alpha", metric="coverage")
    with pytest.raises(ValueError, match="one number for each alternation"):
        ConvergenceDisplay([])


def test_public_names_come_on_first_use():
    for name in display.__all__:
        assert getattr(display, name) is not None
    assert set(display.__all__) == set(dir(display))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = display.nothing


@pytest.mark.parametrize("draw", [plot_convergence, plot_figure1])
def test_without_matplotlib_the_error_names_the_extra(result, draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'skcamel\[report\]'"):
        draw(result)
