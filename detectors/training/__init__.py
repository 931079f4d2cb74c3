"""Training detectors on labelled pairs: logistic heads, cross-encoders, adapters of language models, and stacks."""
