"""Methods x data sets x folds ► records ► tables, counts and significance."""
