"""The names of published data sets. A new one is a module and a line here."""

from berdseye.data.errors import UnknownNameError
from berdseye.data.published_sets.berds import berds_parts
from berdseye.data.published_sets.debateqa import debateqa_parts
from berdseye.data.published_sets.dmerit import dmerit_parts
from berdseye.data.published_sets.part import Part
from berdseye.data.published_sets.perspectrum import perspectrum_parts
from berdseye.data.published_sets.pir import pir_parts

SETS: dict[str, tuple[Part, ...]] = {
    **berds_parts(),
    **pir_parts(),
    **debateqa_parts(),
    **dmerit_parts(),
    **perspectrum_parts(),
}
GROUPS = {group: tuple(name for name in SETS if name.startswith(f"{group}-")) for group in ("berds", "pir")}
"""Names that stand for several."""


def named_sets(name: str) -> list[str]:
    """The data sets that a name stands for; raises `UnknownNameError` with the nearest names."""
    if name in GROUPS:
        return list(GROUPS[name])
    if name not in SETS:
        raise UnknownNameError("published data set", name, [*SETS, *GROUPS])
    return [name]
