"""The workspace: the folder with corpora, data sets, runs, labels and judgments."""

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

PROMPTS_FOLDER = "prompts"
"""The folder, in a workspace or the current folder, whose prompt files are known by their names."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
SETTINGS_FILE = "berdseye.toml"
"""The name of the settings file in the workspace's folder."""
_LONGEST_STEM = 160  # file systems allow 255 bytes, which include the endings
DEFAULTS: dict[str, Any] = {
    "judgments": {"url": ""},
    "label_studio": {"url": "", "project": "Berdseye"},
    "language_models": {"default": "", "cap": 0.0, "requests_per_minute": 0.0, "prices": {}},
    "detectors": {"unsure": 0.15},
    "judging": {"break_minutes": 45.0},
    "measures": {"min_judged": 0.5, "unjudged": "zero"},
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
        """Create the folder and its settings file; an existing workspace is opened and not changed."""
        folder = folder.expanduser().resolve()
        if folder.exists() and not folder.is_dir():
            raise BadInputError(
                "The workspace must be a folder, got a file.", where=folder, hint="Choose another path."
            )
        if not (folder / SETTINGS_FILE).exists():
            write_bytes(folder / SETTINGS_FILE, tomli_w.dumps(DEFAULTS).encode())
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> "Workspace":
        """Open a workspace; raises `UnavailableError` if there is none, `BadInputError` for invalid settings."""
        folder = folder.expanduser().resolve()
        path = folder / SETTINGS_FILE
        if not path.exists():
            raise UnavailableError(
                "There is no workspace here.",
                where=folder,
                hint="Create one with `berdseye demo` or `berdseye init`.",
            )
        try:
            written = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInputError(f"The settings cannot be read: {error}.", where=path, hint="Fix the file.") from error
        settings = parsed_settings(written, path)
        return cls(folder, settings)

    @classmethod
    def default_folder(cls) -> Path:
        """`$BERDSEYE_WORKSPACE`, or `workspace` in the current folder."""
        return Path(os.environ.get("BERDSEYE_WORKSPACE") or "workspace")

    @property
    def judgments_url(self) -> str:
        """SQLAlchemy URL of the judgments, from the environment, then the settings; the default is SQLite in the workspace."""
        configured = os.environ.get("BERDSEYE_JUDGMENTS_URL") or self.settings["judgments"]["url"]
        return str(configured) or f"sqlite:///{self.folder / 'judgments.db'}"

    @property
    def people(self) -> PeopleSettings:
        """Who may use the app, and in which role."""
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
        """The folder of tables and charts of studies."""
        return self.folder / "studies"

    @property
    def jobs_folder(self) -> Path:
        """The folder of jobs that the app runs in the background, one subfolder per job."""
        return self.folder / "jobs"

    @property
    def backups_folder(self) -> Path:
        """The folder of the backups that the app makes."""
        return self.folder / "backups"

    @property
    def downloads_folder(self) -> Path:
        """The folder of published data sets as downloaded, one subfolder per data set."""
        return self.folder / "downloads"

    @property
    def uploads_folder(self) -> Path:
        """Files that people uploaded in the app, until a job has read them."""
        return self.folder / "uploads"

    @property
    def labels_folder(self) -> Path:
        return self.folder / "labels"

    @property
    def detectors_folder(self) -> Path:
        """The folder of detectors trained in this workspace."""
        return self.folder / "detectors"

    @property
    def training_sets_folder(self) -> Path:
        """The folder of training sets made from judgments, one subfolder per version."""
        return self.folder / "training_sets"

    @property
    def thresholds_folder(self) -> Path:
        return self.folder / "thresholds"

    @property
    def grades_folder(self) -> Path:
        return self.folder / "grades"

    @property
    def label_studio_folder(self) -> Path:
        return self.folder / "label_studio"

    def corpora(self) -> list[str]:
        """Sorted names of all complete corpora; folders left unfinished by a killed process begin with a dot."""
        return sorted(p.parent.name for p in (self.folder / "corpora").glob("[!.]*/manifest.json"))

    def datasets(self) -> list[str]:
        """Sorted names of all data sets."""
        return sorted(p.stem for p in (self.folder / "datasets").glob("*.parquet"))


def parsed_settings(written: str, path: Path) -> dict[str, Any]:
    """Return the settings that a settings file contains, completed with the defaults; `path` names the file in errors.

    Raises `BadInputError` and `UnknownNameError` for invalid settings.
    """
    try:
        read = tomllib.loads(written)
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(f"The settings cannot be read: {error}.", where=path, hint="Fix the file.") from error
    for section, values in read.items():
        if section not in DEFAULTS:
            raise UnknownNameError("section in berdseye.toml", section, DEFAULTS)
        if not isinstance(values, dict):
            raise BadInputError(f"'{section}' must be a section.", where=path, hint=f"Write it as [{section}].")
        for key, value in values.items():
            if key in _SECRETS:
                raise BadInputError(
                    f"'{key}' is a secret, and secrets do not belong in the settings.",
                    where=path,
                    hint=f"Remove it here, and set {_SECRETS[key]} in the environment.",
                )
            if key not in DEFAULTS[section]:
                raise UnknownNameError(f"setting in [{section}] of berdseye.toml", key, DEFAULTS[section])
            if expected := _type_error(value, DEFAULTS[section][key], f"{section}.{key}"):
                raise BadInputError(f"'{key}' in [{section}] must be {expected[0]}.", where=path, hint=expected[1])
    settings = {name: {**values, **read.get(name, {})} for name, values in DEFAULTS.items()}
    try:
        people_settings(settings["people"])
    except BerdseyeError as error:
        raise BadInputError(error.what, where=path, hint=error.hint) from error
    return settings


def _type_error(value: Any, default: Any, name: str) -> tuple[str, str] | None:
    """The expected type of a setting and a hint on how to write it, if the value does not have the type of its default."""
    match default:
        case float():
            number = isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value < math.inf
            return None if number else ("a number of at least 0", "Write it like 5 or 2.5.")
        case dict():
            return None if isinstance(value, dict) else ("a table", f"Write it as [{name}].")
    return None if isinstance(value, str) else ("a text", "Put it in quotes.")


def find_file(written: str, workspace: Workspace | None) -> Path:
    """The path of a file, looked up in the workspace, then in the current folder; raises `BadInputError` if it is missing."""
    # A text that is not a valid path (too long, unknown home) is reported like a missing file.
    with suppress(OSError, ValueError, RuntimeError):
        relative = Path(written).expanduser()
        for path in (workspace.folder / relative if workspace else relative, relative):
            if path.is_file():
                return path.resolve()
    raise BadInputError(
        "The file does not exist.",
        where=written[:80],
        hint="Files are looked up in the workspace, then in the current folder.",
    )


def find_prompt(written: str, workspace: Workspace | None, *released: str) -> Path:
    """The file of a prompt: a path, or the name of a file in the folder `prompts`, with or without `.txt`.

    Both are looked up as `find_file` does. `released` are further names of the file in that folder. Raises `BadInputError` if
    nothing is found.
    """
    places = (written, *(f"{PROMPTS_FOLDER}/{name}" for name in (*released, written, f"{written}.txt")))
    for place in places:
        with suppress(BadInputError):
            return find_file(place, workspace)
    folders = [workspace.folder / PROMPTS_FOLDER] if workspace else []
    searched = " or ".join(f"'{folder}'" for folder in (*folders, Path(PROMPTS_FOLDER)))
    raise BadInputError(
        f"The prompt '{written[:80]}' is neither a file nor in {searched}.",
        hint=f"Copy the released file {released[0]} there, or name another prompt file."
        if released
        else "Copy the file there, or give its path.",
    )


def checked_name(kind: str, name: str) -> str:
    """Return `name` if it is a safe file name; raises `BadInputError` otherwise."""
    if not _NAME.fullmatch(name):
        raise BadInputError(
            f"'{name}' cannot be the name of a {kind}.",
            hint="Use up to 64 lowercase letters, digits, dots, hyphens and underscores, starting with a letter or digit.",
        )
    return name


def file_stem(canonical: str) -> str:
    """A file name for a canonical name (of a pipeline, a detector): still readable, and safe on every file system."""
    stem = re.sub(r"[^A-Za-z0-9._=,()@+-]", "~", canonical)
    if len(stem) <= _LONGEST_STEM:
        return stem
    return f"{stem[:_LONGEST_STEM]}~{hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()}"
