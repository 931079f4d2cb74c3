"""Corpora of the web: nothing is read beforehand; each question searches the web, and the pages it finds are stored."""

import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

from berdseye.data.corpora.manifest import Manifest, berdseye_version, corpus_files, is_complete
from berdseye.data.errors import BadInputError
from berdseye.data.texts.chunkers import DEFAULT_CHUNKER, parse_chunker
from berdseye.data.web.pages import WebPages
from berdseye.data.web.settings import WebSettings
from berdseye.data.workspace import Workspace


def add_web_corpus(
    workspace: Workspace, name: str, settings: WebSettings, *, chunker: str | None = None, replace: bool = False
) -> Manifest:
    """Add a corpus that searches the web with these settings.

    Its `hash` is computed from the settings, since a stored page never changes. Raises `BadInputError` if the corpus exists
    and `replace` is not set.
    """
    folder = workspace.corpus_folder(name)
    if is_complete(folder):
        if not replace:
            raise BadInputError(f"Corpus '{name}' already exists.", hint="Choose another name, or pass --replace.")
        shutil.rmtree(folder)
    cut = str(parse_chunker(chunker or DEFAULT_CHUNKER))
    web_settings = settings.write()
    manifest = Manifest(
        name=name,
        kind="web",
        count=0,
        documents=0,
        duplicates_merged=0,
        hash=hashlib.blake2b(json.dumps([web_settings, cut], sort_keys=True).encode(), digest_size=16).hexdigest(),
        source=f"{settings.provider} {settings.address}".strip(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        chunker=cut,
        berdseye=berdseye_version(),
        web=web_settings,
    )
    folder.mkdir(parents=True, exist_ok=True)
    manifest.write(folder)
    corpus_files(folder).seal()
    return manifest


def web_pages(folder: Path, manifest: Manifest) -> WebPages:
    """The pages found so far by a corpus of the web."""
    return WebPages(folder / "web", WebSettings.read(manifest.web))
