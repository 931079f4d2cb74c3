"""Corpora of the web: nothing is read beforehand, each question searches, and what it finds stays."""

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
    """A corpus that asks the web with these settings; its `hash` is theirs, for pages once found do not change."""
    folder = workspace.corpus_folder(name)
    if is_complete(folder):
        if not replace:
            raise BadInputError(f"There is a corpus '{name}' already.", hint="Choose another name, or pass --replace.")
        shutil.rmtree(folder)
    cut = str(parse_chunker(chunker or DEFAULT_CHUNKER))
    written = settings.write()
    manifest = Manifest(
        name=name,
        kind="web",
        count=0,
        documents=0,
        duplicates_merged=0,
        hash=hashlib.blake2b(json.dumps([written, cut], sort_keys=True).encode(), digest_size=16).hexdigest(),
        source=f"{settings.provider} {settings.address}".strip(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        chunker=cut,
        berdseye=berdseye_version(),
        web=written,
    )
    folder.mkdir(parents=True, exist_ok=True)
    manifest.write(folder)
    corpus_files(folder).seal()
    return manifest


def web_pages(folder: Path, manifest: Manifest) -> WebPages:
    """The pages of a corpus of the web."""
    return WebPages(folder / "web", WebSettings.read(manifest.web))
