"""What collaboration does to the fit: singular values of G and the ridge of every rotated label."""

from __future__ import annotations

import numpy as np

from skcamel.report.facts import ModelFacts, chosen
from skcamel.report.page import Section, significant
from skcamel.solve.spectral import label_basis

LOADINGS = 5  # labels named for each direction


def spectrum_section(facts: ModelFacts) -> Section:
    """Singular values, ridges, and the labels that weigh most in each direction."""
    basis = label_basis(facts.model.collaboration_)
    lambda1, lambda2 = float(chosen(facts.model, "lambda1")), float(chosen(facts.model, "lambda2"))
    ridges = basis.ridges(lambda1, lambda2)
    heaviest = np.argsort(-abs(basis.R), axis=0, kind="stable")[:LOADINGS].T  # (l, k) labels
    loadings = [[[int(i), float(basis.R[i, c])] for i in labels] for c, labels in enumerate(heaviest)]
    alone = lambda2 * (1 + 1 / lambda1)
    data = {"d": basis.d.tolist(), "ridges": ridges.tolist(), "alone": alone, "loadings": loadings}
    context = {"sentence": _sentence(facts, basis.d, ridges, alone), "n_null": len(facts.S) - len(basis.d)}
    return Section("spectrum", "Spectrum", context, data, ("spectrum.js",))


def _sentence(facts: ModelFacts, d: np.ndarray, ridges: np.ndarray, alone: float) -> str:
    if facts.alpha == 0:
        return f"With α = 0, G is the identity: every label is a ridge regression of its own, all with ρ = {significant(alone)}."
    if not len(d):
        return "G is zero: no prediction reaches any label."
    lighter = int((ridges < alone * (1 - 1e-9)).sum())
    return (
        f"Of {len(d)} directions, {lighter} are shrunk less than without collaboration (ρ = {significant(alone)} for α = 0) and "
        f"{len(d) - lighter} as much or more: from ρ = {significant(ridges[0])} where labels support each other most "
        f"(d = {significant(d[0])}) to ρ = {significant(ridges[-1])} where they support each other least (d = {significant(d[-1])})."
    )
