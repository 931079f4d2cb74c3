"""Servers for every test of the detector behind an address."""

from tests.data.language_models.serving import serve

__all__ = ["serve"]
