"""Detectors whose models run on this machine: NLI models, cross-encoders, language models, and trained versions of them."""
