"""Label sources, labelled runs, and the arrays that measures are computed from."""
