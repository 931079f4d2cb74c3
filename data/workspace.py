"""A workspace: the folder that holds corpora, data sets, runs, labels and judgments."""

import hashlib
import math
import os
import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError, UnknownNameError
from berdseye.data.files.atomic import write_bytes
from berdseye.data.people import DEFAULTS as PEOPLE
from berdseye.data.people import PeopleSettings, people_settings

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_SETTINGS = "berdseye.toml"
_LONGEST_STEM = 160  # file systems take 255 bytes, and endings follow
DEFAULTS: dict[str, Any] = {
    "judgments": {"url": ""},
    "label_studio": {"url": "", "project": "Berdseye"},
    "language_models": {"default": "", "cap": 0.0, "requests_per_minute": 0.0, "prices": {}},
    "judging": {"break_minutes": 45.0},
    "measures": {"min_judged": 0.5},
    "people": PEOPLE,
}
_SECRETS = {
    "client_secret": "BERDSEYE_OIDC_CLIENT_SECRET",
    "cookie_secret": "BERDSEYE_COOKIE_SECRET",
    "token": "BERDSEYE_LABEL_STUDIO_TOKEN",
}


@dataclass(frozen=True)
class Workspace:
    """Paths and settings of one workspace folder."""

    folder: Path
    settings: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)

    @classmethod
    def create(cls, folder: Path) -> "Workspace":
        """Make the folder and its settings file; an existing workspace is opened and nothing in it changed."""
        folder = folder.expanduser().resolve()
        if folder.exists() and not folder.is_dir():
            raise BadInputError("A workspace must be a folder.", where=folder, hint="Choose another path.")
        if not (folder / _SETTINGS).exists():
            write_bytes(folder / _SETTINGS, tomli_w.dumps(DEFAULTS).encode())
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> "Workspace":
        """Open a workspace; raises `UnavailableError` where there is none, `BadInputError` for bad settings."""
        folder = folder.expanduser().resolve()
        path = folder / _SETTINGS
        if not path.exists():
            raise UnavailableError(
                "There is no workspace here.",
                where=folder,
                hint="Make one with `berdseye demo` or `berdseye init`.",
            )
        try:
            read = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInputError(
                f"The settings cannot be read: {error}.", where=path, hint="Correct the file."
            ) from error
        for section, values in read.items():
            if section not in DEFAULTS:
                raise UnknownNameError("section in berdseye.toml", section, DEFAULTS)
            if not isinstance(values, dict):
                raise BadInputError(f"'{section}' is a section.", where=path, hint=f"Write it as [{section}].")
            for key, value in values.items():
                if key in _SECRETS:
                    raise BadInputError(
                        f"'{key}' is a secret, and the settings hold none.",
                        where=path,
                        hint=f"Set {_SECRETS[key]} in the environment, and take it out here.",
                    )
                if key not in DEFAULTS[section]:
                    raise UnknownNameError(f"setting in [{section}] of berdseye.toml", key, DEFAULTS[section])
                if wrong := _wrong(value, DEFAULTS[section][key], f"{section}.{key}"):
                    raise BadInputError(f"'{key}' in [{section}] must be {wrong[0]}.", where=path, hint=wrong[1])
        settings = {name: {**values, **read.get(name, {})} for name, values in DEFAULTS.items()}
        try:
            people_settings(settings["people"])
        except BerdseyeError as error:
            raise BadInputError(error.what, where=path, hint=error.hint) from error
        return cls(folder, settings)

    @classmethod
    def default_folder(cls) -> Path:
        """`$BERDSEYE_WORKSPACE`, or `workspace` in the present folder."""
        return Path(os.environ.get("BERDSEYE_WORKSPACE") or "workspace")

    @property
    def judgments_url(self) -> str:
        """SQLAlchemy URL of the judgments: the environment, then the settings, then SQLite in the workspace."""
        configured = os.environ.get("BERDSEYE_JUDGMENTS_URL") or self.settings["judgments"]["url"]
        return str(configured) or f"sqlite:///{self.folder / 'judgments.db'}"

    @property
    def people(self) -> PeopleSettings:
        """Who may come in, and as what."""
        return people_settings(self.settings["people"])

    def corpus_folder(self, name: str) -> Path:
        return self.folder / "corpora" / checked_name("corpus", name)

    def dataset_file(self, name: str) -> Path:
        return self.folder / "datasets" / f"{checked_name('data set', name)}.parquet"

    @property
    def runs_folder(self) -> Path:
        return self.folder / "runs"

    @property
    def studies_folder(self) -> Path:
        """Tables and charts of studies."""
        return self.folder / "studies"

    @property
    def jobs_folder(self) -> Path:
        """What the app started in the background, a folder each."""
        return self.folder / "jobs"

    @property
    def downloads_folder(self) -> Path:
        """Published data sets as they were fetched, a folder each."""
        return self.folder / "downloads"

    @property
    def labels_folder(self) -> Path:
        return self.folder / "labels"

    @property
    def detectors_folder(self) -> Path:
        """Detectors that were trained here."""
        return self.folder / "detectors"

    @property
    def training_sets_folder(self) -> Path:
        """Versions of the training sets that were made from judgments, a folder each."""
        return self.folder / "training_sets"

    @property
    def thresholds_folder(self) -> Path:
        return self.folder / "thresholds"

    @property
    def label_studio_folder(self) -> Path:
        return self.folder / "label_studio"

    def corpora(self) -> list[str]:
        """Names of the corpora that are complete, sorted; folders half-built by a killed process begin with a dot."""
        return sorted(p.parent.name for p in (self.folder / "corpora").glob("[!.]*/manifest.json"))

    def datasets(self) -> list[str]:
        """Names of the data sets, sorted."""
        return sorted(p.stem for p in (self.folder / "datasets").glob("*.parquet"))


def _wrong(value: Any, default: Any, name: str) -> tuple[str, str] | None:
    """What a setting must be and how it is written, where its value is not of the kind of its default."""
    match default:
        case float():
            number = isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value < math.inf
            return None if number else ("a number from 0", "Write it like 5 or 2.5.")
        case dict():
            return None if isinstance(value, dict) else ("a table", f"Write it as [{name}].")
    return None if isinstance(value, str) else ("a text", "Put it in quotes.")


def find_file(written: str, workspace: Workspace | None) -> Path:
    """The file that a name gives, below the workspace, else below the present folder; raises `BadInputError`."""
    # A text that no path can be (too long, no such home) is a file that is not there.
    with suppress(OSError, ValueError, RuntimeError):
        given = Path(written).expanduser()
        for path in (workspace.folder / given if workspace else given, given):
            if path.is_file():
                return path.resolve()
    raise BadInputError(
        "There is no such file.",
        where=written[:80],
        hint="It is looked for in the workspace and in the present folder.",
    )


def checked_name(kind: str, name: str) -> str:
    """`name` if it can safely be a file name, else `BadInputError`."""
    if not _NAME.fullmatch(name):
        raise BadInputError(
            f"'{name}' cannot be the name of a {kind}.",
            hint="Use up to 64 lower-case letters, digits, dots, hyphens and underscores, starting with a letter or digit.",
        )
    return name


def file_stem(canonical: str) -> str:
    """A canonical name (of a pipeline, a detector) as a file name: reversible enough to read, safe everywhere."""
    stem = re.sub(r"[^A-Za-z0-9._=,()@+-]", "~", canonical)
    if len(stem) <= _LONGEST_STEM:
        return stem
    return f"{stem[:_LONGEST_STEM]}~{hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()}"
