"""Readers of questions and perspectives, one module per published layout; `data/README.md` documents the schemas."""

from berdseye.data.datasets.layouts.recognise import read_dataset
from berdseye.data.datasets.layouts.rows import Imported, read_perspectives

__all__ = ["Imported", "read_dataset", "read_perspectives"]
