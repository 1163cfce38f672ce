"""Transformers that stand in for those of a user and for one of skcamel's own."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler


class Columns(TransformerMixin, BaseEstimator):
    """Numbers as they are, a column for each value of a text; knows where columns come from."""

    def __init__(self, note=""):
        self.note = note

    def fit(self, X, y=None):
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        self.n_features_in_ = len(X.columns)
        self.values_ = {}
        for name in X.columns:
            if not pd.api.types.is_numeric_dtype(X[name]):
                self.values_[name] = tuple(sorted(set(X[name])))
        self.source_columns_ = np.repeat(
            self.feature_names_in_, [len(self.values_.get(name, "1")) for name in X.columns]
        )
        return self

    def transform(self, X):
        parts = [
            np.column_stack([X[name] == value for value in self.values_.get(name, ())] or [X[name]])
            for name in self.feature_names_in_
        ]
        return np.hstack(parts).astype(float)

    def get_feature_names_out(self, input_features=None):
        values = [
            value for name in self.feature_names_in_ for value in self.values_.get(name, ("",))
        ]
        return np.array(
            [
                f"{name}{value and '='}{value}"
                for name, value in zip(self.source_columns_, values, strict=True)
            ],
            dtype=object,
        )

    def describe(self):
        return [
            (
                name,
                "text" if name in self.values_ else "number",
                ", ".join(self.values_.get(name, ())) or self.note,
            )
            for name in self.feature_names_in_
        ]


class Foreign(StandardScaler):
    """A type that skops does not know."""
