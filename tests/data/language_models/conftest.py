"""Servers for every test of language models."""

from tests.data.language_models.serving import serve

__all__ = ["serve"]
