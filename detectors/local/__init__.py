"""Detectors whose models run on this machine: NLI, cross-encoders, language models and what was trained of them."""
