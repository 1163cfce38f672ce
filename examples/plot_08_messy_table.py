"""
A messy table
=============

Support tickets with dates, money with a currency sign, missing values written as n/a, free text,
and a column of tags. `TablePreparer` decides by the cells what becomes of each column.
"""

import matplotlib.pyplot as plt
import pandas as pd

from messy_table import tickets  # makes tickets up: examples/messy_table.py
from skcamel import CamelClassifierCV, make_pipeline
from skcamel.data import TablePreparer, take_labels
from skcamel.plots import plot_explanation

frame = pd.DataFrame(tickets(400, seed=1))
print(frame.iloc[1].to_string())

# %%
# `take_labels` reads the column of tags; an empty cell means that a ticket has none.

table, labels = take_labels(frame, ["tags"], "tickets")
tags = pd.DataFrame(labels.Y, columns=labels.names)

# %%
# The preparer and the estimator are one pipeline. It needs no description of the columns.

model = make_pipeline(TablePreparer(), CamelClassifierCV.from_preset("quick", prepared=True))
model.fit(table[:300], tags[:300])
print(model[0].kinds_)

# %%
# New tickets get their labels, and reasons by the columns of the table.

new = table[300:305]
print(model.label_sets(new))
plot_explanation(model.explain(new, features=True), row=0)
plt.show()
