"""Retrievers, stages, detectors, measures and layouts that other installed packages add by entry points.

docs/plugins.md says how to write one. Entry points are read when a name is not built in, or when names are listed.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from berdseye.data.errors import UnavailableError

Kind = Literal["retrievers", "stages", "detectors", "measures", "layouts"]


def plugin_names(kind: Kind) -> list[str]:
    """The names that installed packages add; nothing of theirs is imported."""
    return list(_found(kind))


def plugin(kind: Kind, name: str) -> Any:
    """What a package adds under a name; None if no package does.

    Raises `UnavailableError`, which names the package, if its code cannot be imported or if two packages add the name.
    """
    found = _found(kind).get(name, ())
    if not found:
        return None
    if len(found) > 1:
        packages = " and ".join(sorted(_package(point) for point in found))
        raise UnavailableError(f"Two packages add '{name}' to {kind}: {packages}.", hint="Uninstall one of them.")
    try:
        return found[0].load()
    except Exception as error:  # a stranger's code may raise anything
        package = _package(found[0])
        raise UnavailableError(
            f"The package {package} adds '{name}' to {kind}, and it cannot be imported: {type(error).__name__}: {error}.",
            hint=f"Update {package}, or uninstall it.",
        ) from error


@cache
def _found(kind: Kind) -> Mapping[str, tuple[EntryPoint, ...]]:
    points: dict[str, dict[str, EntryPoint]] = {}
    for point in entry_points(group=f"berdseye.{kind}"):
        points.setdefault(point.name, {})[_package(point)] = point  # a package may be on the path twice
    return {name: tuple(of_packages.values()) for name, of_packages in points.items()}


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(":")[0]
