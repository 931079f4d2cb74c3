"""Bias of retrieval: which sides the retrieved passages support, by the labels of runs and by people's judgments."""
