"""BERDS: dev questions with generated perspectives from its repository, test questions from the Hub.

The Hub's own file names could not be looked up; every public data set there also stands in Parquet under names that follow from
its splits, and public loaders name these (test and validation) and the fields. Counts are Table 1's.
"""

from functools import partial
from pathlib import Path

from huggingface_hub import hf_hub_url

from berdseye.data.dataset_formats import read_dataset
from berdseye.data.published_sets.part import Part, Read, RemoteFile, told_count

_REPOSITORY = (
    "https://raw.githubusercontent.com/timchen0618/berds/63a39ef638b9a7851700961394c32c8d9a44d8a9/query_exp/data"
)
_HUB = "default/test/0000.parquet"
_SOURCES = (
    # short name, Hub name, released file, dev and test questions, sha256 of the dev file
    ("arguana", "Arguana", "arguana_generated", 250, 750, "b07ab94dc56d9602fb100e91c25e6eb73b3bbff7a46eb35518cf913edf413431"),
    ("kialo", "Kialo", "kialo", 258, 774, "ea86c20023739cd9b99af2b0d8f46045661ad215d1e6aca083bc3a90df1ae58e"),
    ("opinionqa", "OpinionQA", "opinionqa", 294, 882, "c82dfda7ebe3d79fb773f74043c111256c0283c565d3946e6919e595504ebd73"),
)  # fmt: skip


def _read(folder: Path, names: tuple[str, ...], questions: int) -> Read:
    imported = read_dataset(next((folder / name for name in names if (folder / name).exists()), folder / names[0]))
    return Read(imported, told_count(len(imported.questions), questions, "questions"))


def berds_parts() -> dict[str, tuple[Part, ...]]:
    """Dev and test of each source."""
    sets: dict[str, tuple[Part, ...]] = {}
    for name, hub, released, dev, test, sha256 in _SOURCES:
        url = hf_hub_url(f"timchen0618/{hub}", _HUB, repo_type="dataset", revision="refs/convert/parquet")
        dev_file = RemoteFile(
            f"{released}_query_exp.dev.jsonl",
            f"{_REPOSITORY}/{released}_query_exp.dev.jsonl",
            sha256,
            (f"{released}.jsonl",),
        )
        test_file, rows = RemoteFile(f"{name}_test.parquet", url), RemoteFile(f"{name}_test.jsonl", "")
        both = (test_file.path, rows.path)
        sets[f"berds-{name}"] = (
            Part(f"berds-{name}-dev", (dev_file,), partial(_read, names=(dev_file.path,), questions=dev)),
            Part(f"berds-{name}-test", (test_file,), partial(_read, names=both, questions=test), local=(rows,)),
        )
    return sets
