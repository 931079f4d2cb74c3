"""Wrong uses of every command, made from the command tree itself: a command that is added is covered without a word here."""

import json
import os
import random
import socket
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

RUN, QUESTION = "debate--web--bm25", "Should cities ban private cars from their centres?"
LONG, SURROGATE = "x" * 300, "caf\udce9"
IMPOSSIBLE = ("nul\0byte", LONG, "", "../x", "a/b", "line\nbreak", "\U0001f600", SURROGATE)
"""Names that nothing of ours has, and that few files can have."""
NUL, EMPTY = IMPOSSIBLE[0], IMPOSSIBLE[2]
HUGE = "1" + "0" * 30
NUMBERS = ("-1", "0", HUGE, "nan", "inf", "-inf", "many", "")
_NAMES = (
    "batch", "corpus", "dataset", "detector", "first", "labels", "measure", "measures", "names", "pipeline", "run", "second",
    "second_labels", "wanted", "version", "strategy", "encoder", "base", "teacher", "set_", "rule", "unsure", "leaks", "adopt",
    "kind", "search", "form", "ray", "chunker", "day", "without_batch", "dev_batch",
)  # fmt: skip
_NEW_NAMES = (("judgments import", "dataset"), ("label-studio import", "dataset"))
"""Parameters that name something there is; and those of the same name that name something new."""
_BRIEF = (
    "missing", "folder", "pipe", "noise .jsonl", "empty .json", "nosuch", NUL, EMPTY, "-1", "nan",
)  # fmt: skip
_NO_TARGET = ("folder", "below a file", "loop", "pipe", "socket", "proc", "device")
DAMAGED = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".zip", ".gz", ".run", ".md")

_ANY_FILE = "good.jsonl"
_GOOD: dict[str, str] = {
    "answer": "Opinions differ.", "batch": "sent", "corpus": "web", "dataset": "debate", "detector": "embedded",
    "edit": "1", "email": "ana@example.org", "file": _ANY_FILE, "files": _ANY_FILE, "first": RUN, "kind": "fact-check",
    "name": "mine", "names": RUN, "new": "A new view.", "out": "out.json", "part": "1", "passage": "Cars are loud.",
    "path": _ANY_FILE, "perspective": "Cars are loud.", "pipeline": "bm25", "project": "7", "question": QUESTION,
    "second": "debate--web--dense(static)", "source": _ANY_FILE, "wanted": "judged",
}  # fmt: skip
"""What a required parameter of this name is given while another one is wrong; any other gets a word."""
_GOOD_OF: dict[str, dict[str, str]] = {
    "backup": {"file": "new.zip"},
    "batch export": {"name": "sent", "path": "new.csv"},
    "batch preferences": {"name": "sent", "path": "new.jsonl"},
    "batch close": {"name": "sent"},
    "batch show": {"name": "sent"},
    "bundle": {"file": "new.zip"},
    "corpus add": {"path": "documents.jsonl"},
    "dataset add": {"path": "questions.jsonl"},
    "dataset fetch": {"name": "debateqa"},
    "dataset reformat": {"source": "claims.jsonl"},
    "dataset version": {"name": "debate"},
    "dataset versions": {"name": "debate"},
    "corpus duplicates": {"name": "web"},
    "corpus remove": {"name": "web"},
    "dataset remove": {"name": "debate"},
    "detector learning-curve": {"file": "pairs.tsv"},
    "detector score": {"file": "pairs.tsv"},
    "detector table": {"files": "pairs.tsv"},
    "detector teach": {"file": "taught.tsv", "run": RUN, "teacher": "embedded"},
    "judgments export": {"path": "new.csv"},
    "judgments import": {"path": "export.json"},
    "people link": {"name": "Noor"},
    "people unlink": {"name": "Noor"},
    "perspective export": {"path": "new.jsonl"},
    "restore": {"file": "saved.zip", "folder": "restored"},
    "runs export": {"name": RUN, "file": "new.run"},
    "runs import": {"file": "some.run"},
    "runs labels": {"file": "new.qrels"},
    "llm sides": {"first": "Cars are loud.", "second": "Cars are needed."},
    "study pir": {"files": "task.json"},
    "training-set export": {"path": "new.jsonl"},
    "verify": {"file": "bundle.zip"},
}
_BESIDE: dict[str, tuple[str, ...]] = {
    "answer": ("debate",),
    "batch create": ("--run", RUN),
    "detector teach": ("--questions", "2"),
    "detector train": ("pairs.tsv",),
    "study dmerit": ("--dataset", "debate", "--corpus", "web"),
}
"""What is given too, so that the wrong value is reached; left out where it is the wrong parameter itself."""


class Use(NamedTuple):
    """A command line, the parameter that is wrong in it, its value, and whether nothing but a refusal can be right.

    `brief` is one of those that stand for the others.
    """

    words: tuple[str, ...]
    parameter: str
    value: str
    arguments: tuple[str, ...]
    sure: bool
    brief: bool

    def __str__(self) -> str:
        return f"{' '.join(self.words)}: {self.parameter}={self.value[:40]!a}"


def leaves(tree: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with its words."""

    def walk(found: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        inner = getattr(found, "commands", {})
        if words and (not inner or found.invoke_without_command):
            yield words, found
        for name, child in inner.items():
            yield from walk(child, (*words, name))

    yield from walk(tree, ())


def kind_of(parameter: Any) -> str:
    """path, number, flag, choice or text: by which its wrong values are chosen."""
    described = parameter.type_descriptor
    written = str(described.annotation)
    if described.is_choice:
        return "choice"
    if "Path" in written:
        return "path"
    if "int" in written or "float" in written:
        return "number"
    return "flag" if "bool" in written else "text"


def is_output(parameter: Any) -> bool:
    """Whether a command writes to this path: it may be new, and is wrong where nothing can be made."""
    return bool(parameter.type_descriptor.parameter_info.writable)


def wrong_uses(words: tuple[str, ...], command: Any, paths: Mapping[str, str]) -> Iterator[Use]:
    """Each parameter of a command in turn with each wrong value of its kind, the others as they should be."""
    for parameter in command.params:
        kind = kind_of(parameter)
        if parameter.name in ("help", "json") or kind == "flag":
            continue
        makes = parameter.name == "workspace" and words[0] in ("init", "demo")
        values = {
            "path": _targets(paths, makes) if is_output(parameter) or makes else (*paths.values(), *IMPOSSIBLE),
            "number": NUMBERS,
            "choice": ("nosuch", "", LONG),
            "text": ("nosuch", *IMPOSSIBLE),
        }[kind]
        for value in values:
            what = next((w for w, path in paths.items() if path == value), "")
            sure = _is_surely_wrong(" ".join(words), parameter, kind, what, value)
            brief = (what or value) in _BRIEF
            yield Use(words, parameter.name, value, _line(words, command, parameter, value), sure, brief)


def _targets(paths: Mapping[str, str], makes: bool) -> tuple[str, ...]:
    """Paths where nothing can be made; any other is a right one to write to."""
    # A workspace may be made in a folder that is there.
    return (*(path for what, path in paths.items() if what in _NO_TARGET[makes:]), NUL, LONG, EMPTY, SURROGATE)


def _is_surely_wrong(words: str, parameter: Any, kind: str, what: str, value: str) -> bool:
    """Whether no reading of the value can be meant: of a file's content that is for its reader to say."""
    blank = value == EMPTY and (parameter.default != "" or kind != "text") and parameter.param_type_name == "option"
    if kind == "choice" or value == NUL or blank:
        return True
    if kind == "number":
        return value not in ("-1", "0", HUGE) or (value == HUGE and "int" in str(parameter.type_descriptor.annotation))
    if kind == "path":
        nowhere = what in ("missing", "missing folder", "dangling", "leading dash")
        return value in (LONG, SURROGATE) or what in _NO_TARGET[1:] or what.startswith("noise") or nowhere
    return value == "nosuch" and parameter.name in _NAMES and (words, parameter.name) not in _NEW_NAMES


def _line(words: tuple[str, ...], command: Any, wrong: Any, value: str) -> tuple[str, ...]:
    options: list[str] = []
    arguments: list[str] = []
    for parameter in command.params:
        if parameter is wrong:
            given = value
        elif parameter.required:
            given = _GOOD_OF.get(" ".join(words), {}).get(parameter.name) or _GOOD.get(parameter.name, "x")
        else:
            continue
        if parameter.param_type_name == "argument":
            arguments.append(given)
        elif parameter.nargs == 2:
            options += [parameter.opts[0], given, given]
        else:
            long = max(parameter.opts, key=len)
            options.append(f"{long}={given}")
    beside = _BESIDE.get(" ".join(words), ())
    if wrong.param_type_name == "argument" and not wrong.required:
        beside = ()
    if any(p.name == "json" for p in command.params) and wrong.name not in ("csv", "form"):
        options.append("--json")
    if beside and not (beside[0].startswith("--") and any(o in wrong.opts for o in beside)):
        (options if beside[0].startswith("--") else arguments).extend(beside)
    return (*words, *options, *(("--", *arguments) if arguments else ()))


def write_good_files(folder: Path) -> None:
    """Files that the commands above can read."""
    claim = {"sentence": "Cars are loud.", "claim": "Cars make noise.", "label": "SUPPORTED"}
    for name, rows in {
        "documents.jsonl": [{"text": "Cars are loud."}],
        "questions.jsonl": [{"question": "Why?", "perspectives": ["Because.", "No reason."]}],
        "claims.jsonl": [claim],
        _ANY_FILE: [{"text": "Cars are loud."}],
    }.items():
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "pairs.tsv").write_text(
        "question\tdocument\tperspective\tlabel\nq\tCars are loud.\tCars are loud.\t1\nq\tTrams run.\tCars are loud.\t0\n",
        encoding="utf-8",
    )
    (folder / "export.json").write_text("[]", encoding="utf-8")
    (folder / "task.json").write_text("{}", encoding="utf-8")
    (folder / "some.run").write_text("x Q0 1 1 1.0 tag\n", encoding="utf-8")


def write_wrong_paths(folder: Path) -> dict[str, str]:
    """Files that nothing can read, and paths that are none: by what is wrong with them."""
    folder.mkdir()
    (folder / "file.txt").write_text("text\n", encoding="utf-8")
    (folder / "folder").mkdir()
    (folder / "folder" / "inside.txt").write_text("text\n", encoding="utf-8")
    (folder / "dangling.csv").symlink_to(folder / "nowhere.csv")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    os.mkfifo(folder / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket.csv"))
    found = {
        "missing": folder / "missing.csv",
        "folder": folder / "folder",
        "below a file": folder / "file.txt" / "x.csv",
        "dangling": folder / "dangling.csv",
        "loop": folder / "loop.csv",
        "pipe": folder / "pipe.csv",
        "socket": folder / "socket.csv",
        "missing folder": folder / "none" / "x.csv",
        "device": Path("/dev/full"),
        "proc": Path("/proc/nothing/x.csv"),
        "leading dash": Path("-x.csv"),
    }
    noise = random.Random(0).randbytes(4096)
    with zipfile.ZipFile(folder / "whole.zip", "w") as archive:
        archive.writestr("a.txt", "a" * 9999)
    for ending in DAMAGED:
        contents = {"noise": noise, "empty": b"", "values": b'[1, "a", null]\n'}
        if ending in (".json", ".jsonl"):
            contents |= {"lines": b'{"a": 1}\n{"a": 2}\n', "deep": b"[" * 100_000}
        if ending == ".parquet":
            contents["cut off"] = b"PAR1" + noise + b"PAR1"
        if ending == ".zip":
            contents["cut off"] = (folder / "whole.zip").read_bytes()[:-30]
            contents["other"] = (folder / "whole.zip").read_bytes()
        for what, content in contents.items():
            path = folder / f"{what.replace(' ', '-')}{ending}"
            path.write_bytes(content)
            found[f"{what} {ending}"] = path
    return {what: str(path) for what, path in found.items()}
