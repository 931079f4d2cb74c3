import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError
from berdseye.data.files.locks import locked
from berdseye.data.wikipedia import store as store_module
from berdseye.data.wikipedia.dump import Dump, Page
from berdseye.data.wikipedia.store import WikiStore, open_store, read_dump
from tests.data.wikipedia.made_dump import POPULAR, MadeDump, make_dump


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeDump:
    return make_dump(tmp_path_factory.mktemp("dump") / "dump.xml.bz2", 700, 12)


@pytest.fixture(scope="module")
def wiki(made: MadeDump, tmp_path_factory: pytest.TempPathFactory) -> WikiStore:
    return read_dump(made.path, tmp_path_factory.mktemp("wiki") / "store", segment=200)


def _files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_everything_in_the_dump_is_read(made: MadeDump, wiki: WikiStore) -> None:
    counts = wiki.counts
    assert (counts.articles, counts.lists, counts.redirects) == (700, 12, len(made.redirects))
    assert counts.pages == 701 + len(made.redirects)
    assert counts.bytes == made.bytes
    assert [found.title for found in wiki.lists()] == [one.title for one in made.lists]


def test_an_alias_leads_to_its_article(made: MadeDump, wiki: WikiStore) -> None:
    alias, target = next(iter(made.redirects.items()))
    found = wiki.articles_of([alias, target, "Nothing of this name exists"])
    assert found[alias] == found[target]
    assert found[target][1] == target
    assert len(found) == 2


def test_articles_that_link_to_an_alias_link_to_its_article(made: MadeDump, wiki: WikiStore) -> None:
    star = made.lists[0].columns[0].members[0]
    number, _ = wiki.articles_of([star])[star]
    linking = list(wiki.linking([number]))
    assert wiki.popularity([number]) == {number: len(linking)}
    assert len(linking) > POPULAR
    names = (star, *(alias for alias, target in made.redirects.items() if target == star))
    links = [f"[[{name}{end}" for name in names for end in "|]#"]
    pages = [
        page for page in Dump(made.path).pages() if page.namespace == 0 and not page.redirect and page.id != number
    ]
    by_text = {page.id for page in pages if any(link in page.text for link in links)}
    assert {one.article.id for one in linking} == by_text
    assert all(one.popularity == wiki.popularity([one.article.id])[one.article.id] for one in linking[:5])


def test_passages_are_introductions_with_the_number_of_links_to_them(wiki: WikiStore) -> None:
    passages = list(wiki.passages())
    assert len(passages) == wiki.counts.articles - wiki.counts.no_introduction
    assert [article.id for article, _ in passages] == sorted(article.id for article, _ in passages)
    numbers = [article.id for article, _ in passages]
    assert {article.id: links for article, links in passages} == wiki.popularity(numbers)
    assert all("[[" not in article.introduction for article, _ in passages)


def test_redirects_of_redirects_are_followed_and_circles_are_not(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    pages = [("A", ""), ("B", "A"), ("C", "B"), ("D", "E"), ("E", "D"), ("F", "Nothing")]
    body = "".join(
        f"<page><title>{title}</title><ns>0</ns><id>{n}</id>{f'<redirect title={target!r} />' if target else ''}"
        "<revision><text>Text.</text></revision></page>"
        for n, (title, target) in enumerate(pages, start=1)
    )
    path.write_text(f"<mediawiki>{body}</mediawiki>", encoding="utf-8")
    found = read_dump(path, tmp_path / "store").articles_of("ABCDEF")
    assert found == {"A": (1, "A"), "B": (1, "A"), "C": (1, "A")}


def test_a_reading_that_was_stopped_resumes_with_the_same_bytes(
    made: MadeDump, wiki: WikiStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, reads = Dump.pages, []

    def stopped(self: Dump) -> Iterator[Page]:
        reads.append(self)
        for number, page in enumerate(whole(self)):
            if number == 450 and len(reads) == 1:
                raise KeyboardInterrupt
            yield page

    monkeypatch.setattr(Dump, "pages", stopped)
    with pytest.raises(KeyboardInterrupt):
        read_dump(made.path, tmp_path / "store", segment=200)
    assert sorted(p.name for p in (tmp_path / "store" / "articles").iterdir()) == ["000000.parquet", "000001.parquet"]
    with pytest.raises(UnavailableError, match="No dump"):
        open_store(tmp_path / "store")
    written = {p: p.stat().st_mtime_ns for p in (tmp_path / "store" / "articles").iterdir()}
    read_dump(made.path, tmp_path / "store", segment=200)
    assert all(p.stat().st_mtime_ns == at for p, at in written.items())
    assert _files(tmp_path / "store") == _files(wiki.folder)
    read_dump(made.path, tmp_path / "store", segment=200)
    assert len(reads) == 2, "a finished reading is opened"


def test_a_reading_that_was_stopped_while_links_were_resolved_resumes(
    made: MadeDump, wiki: WikiStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store_module._Reading, "_copy", stop)
        with pytest.raises(KeyboardInterrupt):
            read_dump(made.path, tmp_path / "store", segment=200)
    read_dump(made.path, tmp_path / "store", segment=200)
    assert _files(tmp_path / "store") == _files(wiki.folder)


def test_a_folder_with_another_dump_is_refused(made: MadeDump, wiki: WikiStore, tmp_path: Path) -> None:
    other = make_dump(tmp_path / "other.xml", 200, 2).path
    with pytest.raises(StaleError, match="another dump"):
        read_dump(other, wiki.folder, segment=200)
    with pytest.raises(BadInputError, match="cannot be read"):
        read_dump(tmp_path / "missing.xml", tmp_path / "store")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "reading.json").write_text("{", encoding="utf-8")
    with pytest.raises(UnavailableError, match="damaged"):
        read_dump(made.path, damaged)


def test_two_processes_do_not_read_into_one_folder(made: MadeDump, tmp_path: Path) -> None:
    busy = BerdseyeError("busy")
    with locked(tmp_path / ".store.lock", busy=busy), pytest.raises(BerdseyeError, match="Another process is reading"):
        read_dump(made.path, tmp_path / "store")


def test_a_store_that_lost_a_file_says_so(made: MadeDump, tmp_path: Path) -> None:
    wiki = read_dump(made.path, tmp_path / "store")
    (tmp_path / "store" / "inlinks.parquet").unlink()
    with pytest.raises(UnavailableError, match="cannot be read or written"):
        list(wiki.linking([1]))


def test_a_dump_without_articles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text("<mediawiki></mediawiki>", encoding="utf-8")
    with pytest.raises(BadInputError, match="no article"):
        read_dump(path, tmp_path / "store")


def test_broken_markup_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    texts = ["A {{never", "A [[b]]", "", "<!-- never", "{{{{}}}}"]
    body = "".join(
        f"<page><title>{n}</title><ns>0</ns><id>{n}</id><revision><text>{t.replace('<', '&lt;')}</text></revision></page>"
        for n, t in enumerate(texts, start=1)
    )
    path.write_text(f"<mediawiki>{body}</mediawiki>", encoding="utf-8")
    read_dump(path, tmp_path / "store")
    counts = json.loads((tmp_path / "store" / "reading.json").read_text(encoding="utf-8"))["counts"]
    assert (counts["unclosed"], counts["no_introduction"]) == (2, 3)
