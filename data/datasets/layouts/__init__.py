"""Questions and perspectives in the layouts they are published in, a module each; README.md in `data` has the schemas."""

from berdseye.data.datasets.layouts.recognise import read_dataset
from berdseye.data.datasets.layouts.rows import Imported, read_perspectives

__all__ = ["Imported", "read_dataset", "read_perspectives"]
