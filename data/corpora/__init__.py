"""Corpora: collections of passages, which never change once written."""

from berdseye.data.corpora.adding import add_corpus
from berdseye.data.corpora.corpus import Corpus, cut_page, open_corpus
from berdseye.data.corpora.manifest import Kind, Manifest, SourceFile
from berdseye.data.corpora.removing import remove_corpus

__all__ = ["Corpus", "Kind", "Manifest", "SourceFile", "add_corpus", "cut_page", "open_corpus", "remove_corpus"]
