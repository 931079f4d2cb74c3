"""Questions and perspectives in the layouts they are published in, a module each; README.md in `data` has the schemas."""

from berdseye.data.dataset_formats.imported import Imported
from berdseye.data.dataset_formats.perspectives import read_perspectives
from berdseye.data.dataset_formats.recognise import read_dataset

__all__ = ["Imported", "read_dataset", "read_perspectives"]
