"""The seven metrics as slow literal loops in exact arithmetic, after Zhang & Zhou (TKDE 2014).

Labels, decisions and scores are rows of Python values or matrices that iterate like them. Every
result is exact, or None where no row counts. Conventions: `ties` "worst" or "index", `rows` "skip",
"mulan" or "sklearn", `absent` for an F1 of 0/0. NaN among the labels is an unknown one, which is
taken out before anything is counted.
"""

from fractions import Fraction


def rank(F, j, ties):
    """Position of label j by decreasing score, 1 for the best."""
    if ties == "worst":
        return sum(f >= F[j] for f in F)
    return sum(f > F[j] for f in F) + sum(f == F[j] for f in F[j:])


def top(F, ties):
    """The label that counts as highest."""
    tied = [j for j, f in enumerate(F) if f == max(F)]
    return tied[0] if ties == "worst" else tied[-1]


def one_error_of_row(Y, F, ties):
    return Fraction(0 if Y[top(F, ties)] else 1)


def coverage_of_row(Y, F, ties):
    return Fraction(max(rank(F, j, ties) for j in range(len(Y)) if Y[j]) - 1, len(Y))


def ranking_loss_of_row(Y, F, ties):
    pairs = [(j, m) for j in range(len(Y)) for m in range(len(Y)) if Y[j] and not Y[m]]
    if ties == "worst":
        return Fraction(sum(F[j] <= F[m] for j, m in pairs), len(pairs))
    return Fraction(sum(rank(F, j, ties) > rank(F, m, ties) for j, m in pairs), len(pairs))


def average_precision_of_row(Y, F, ties):
    relevant = [j for j in range(len(Y)) if Y[j]]
    precision = [
        Fraction(sum(rank(F, m, ties) <= rank(F, j, ties) for m in relevant), rank(F, j, ties))
        for j in relevant
    ]
    return sum(precision) / len(relevant)


OF_ROW = {
    "one_error": one_error_of_row,
    "coverage": coverage_of_row,
    "ranking_loss": ranking_loss_of_row,
    "average_precision": average_precision_of_row,
}
# What a convention gives a row in which no label is relevant, and one in which all are; None: the
# row does not count. Of a row without labels scikit-learn's coverage_error is 0, and (0 - 1)/q
# remains; it has no one-error.
NO_LABEL = {
    "skip": {},
    "mulan": {"one_error": 1, "coverage": 0, "ranking_loss": 0},
    "sklearn": {"one_error": 1, "coverage": -1, "ranking_loss": 0, "average_precision": 1},
}


def row_without_labels(metric, q, rows):
    value = NO_LABEL[rows].get(metric)
    return Fraction(value, q) if metric == "coverage" and value is not None else value


def row_with_all_labels(metric, q, rows):
    if rows == "skip":
        return None
    if metric == "coverage":
        return Fraction(q - 1, q)
    return int(metric == "average_precision")


def weighted_mean(values, weights):
    """Mean of the values that are not None; None where they have no weight."""
    counted = [(v, Fraction(w)) for v, w in zip(values, weights, strict=True) if v is not None]
    total = sum(w for _, w in counted)
    return sum(v * w for v, w in counted) / total if total else None


def ranking_metric(metric, Y, F, ties="worst", rows="skip", weights=None):
    """One of the four ranking metrics of all rows."""
    values = []
    for all_labels, all_scores in zip(_plain(Y), _plain(F), strict=True):
        known = [j for j, label in enumerate(all_labels) if is_known(label)]
        labels, scores = [all_labels[j] for j in known], [all_scores[j] for j in known]
        if not known:
            values.append(None)
        elif not any(labels):
            values.append(row_without_labels(metric, len(labels), rows))
        elif all(labels):
            values.append(row_with_all_labels(metric, len(labels), rows))
        else:
            values.append(OF_ROW[metric](labels, scores, ties))
    return weighted_mean(values, _plain(weights) or [1] * len(values))


def counts(Y, P, weights=None):
    """(TP, FP, FN) of every label."""
    Y, P = _plain(Y), _plain(P)
    weights = _plain(weights) or [1] * len(Y)
    result = []
    for j in range(len(Y[0])):
        tp = fp = fn = Fraction(0)
        for labels, decisions, w in zip(Y, P, weights, strict=True):
            if not is_known(labels[j]):
                continue
            tp += Fraction(w) * (1 if labels[j] and decisions[j] else 0)
            fp += Fraction(w) * (1 if decisions[j] and not labels[j] else 0)
            fn += Fraction(w) * (1 if labels[j] and not decisions[j] else 0)
        result.append((tp, fp, fn))
    return result


def f1(tp, fp, fn, absent=1):
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else Fraction(absent)


def is_known(label):
    return label == label  # NaN is not


def known_weights(Y, weights=None):
    """Weight of the known entries of every label; None where all entries are known."""
    Y = _plain(Y)
    if all(is_known(label) for labels in Y for label in labels):
        return None
    weights = _plain(weights) or [1] * len(Y)
    return [
        sum(Fraction(w) for labels, w in zip(Y, weights, strict=True) if is_known(labels[j]))
        for j in range(len(Y[0]))
    ]


def hamming_loss(Y, P, weights=None):
    wrong, of_entries = [], []
    for labels, decisions, w in zip(
        _plain(Y), _plain(P), _plain(weights) or [1] * len(Y), strict=True
    ):
        for y, p in zip(labels, decisions, strict=True):
            wrong.append(Fraction(bool(y) != bool(p)) if is_known(y) else None)
            of_entries.append(w)
    return weighted_mean(wrong, of_entries)


def macro_f1(Y, P, absent=1, weights=None):
    of_labels = [f1(*of_label, absent) for of_label in counts(Y, P, weights)]
    known = known_weights(Y, weights) or [1] * len(of_labels)
    return weighted_mean(of_labels, [int(w > 0) for w in known])


def micro_f1(Y, P, absent=1, weights=None):
    known = known_weights(Y, weights)
    if known is not None and not any(known):
        return None
    return f1(*(sum(part) for part in zip(*counts(Y, P, weights), strict=True)), absent)


def decision_metric(metric, Y, P, absent=1, weights=None):
    """One of the three metrics of decisions."""
    if metric == "hamming_loss":
        return hamming_loss(Y, P, weights)
    return {"macro_f1": macro_f1, "micro_f1": micro_f1}[metric](Y, P, absent, weights)


def metric(name, Y, F, P, ties="worst", rows="skip", absent=1, weights=None):
    """One of the seven."""
    if name in OF_ROW:
        return ranking_metric(name, Y, F, ties, rows, weights)
    return decision_metric(name, Y, P, absent, weights)


def _plain(array):
    """Nested lists of Python numbers: numpy's would round, and `Fraction` would refuse them."""
    return array.tolist() if hasattr(array, "tolist") else array
