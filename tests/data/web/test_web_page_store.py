"""Pages are kept for ever, each under one id, whoever writes and whoever is killed."""

import signal
import time
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_processes import many, write_for_ever

from berdseye.data.errors import BerdseyeError, StaleError
from berdseye.data.records import Passage
from berdseye.data.web.page_store import Page, PageStore


def made(*numbers: int) -> list[Page]:
    return [Page(f"https://a.example/{n}", f"Title {n}", f"Text of {n}. " * (n % 7 + 1)) for n in numbers]


def test_pages_come_back_whole(tmp_path: Path) -> None:
    store = PageStore(tmp_path)
    assert store.add(made(5, 3)) == [0, 1]
    assert store.add(made(8)) == [2]
    assert store.pages([2, 0]) == [
        Passage(2, "https://a.example/8", "Title 8", "Text of 8. Text of 8. ", "https://a.example/8"),
        Passage(0, "https://a.example/5", "Title 5", "Text of 5. " * 6, "https://a.example/5"),
    ]
    assert store.pages([]) == []
    for unknown in (-1, 3, 10**15):
        with pytest.raises(StaleError, match=str(unknown)):
            store.pages([0, unknown])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.integers(0, 12), max_size=6), max_size=6))
def test_the_same_page_has_the_same_id_for_ever(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    ids: dict[int, int] = {}
    for batch in batches:
        given_ids = PageStore(folder).add(made(*batch))
        assert all(ids.setdefault(n, i) == i for n, i in zip(batch, given_ids, strict=True))
    assert sorted(ids.values()) == list(range(len(ids)))
    assert [p.title for p in PageStore(folder).pages(list(ids.values()))] == [f"Title {n}" for n in ids]


def test_a_page_whose_text_changed_is_another_page(tmp_path: Path) -> None:
    store, page = PageStore(tmp_path), made(1)[0]
    assert store.add([page, page._replace(text="New"), page._replace(url="https://b.example/"), page]) == [0, 1, 2, 0]
    assert store.add([page._replace(title="Another title")]) == [0]


def test_an_id_is_not_given_twice_when_another_store_wrote(tmp_path: Path) -> None:
    first, second = PageStore(tmp_path), PageStore(tmp_path)
    assert first.add(made(1)) == [0]
    assert second.add(made(2)) == [1]
    assert first.add(made(3, 2)) == [2, 1]
    assert [p.title for p in first.pages([0, 1, 2])] == ["Title 1", "Title 2", "Title 3"]


def test_many_processes_at_once_agree(tmp_path: Path, processes: ForkServerContext) -> None:
    with processes.Pool(3) as pool:
        answers = pool.map(many, [(tmp_path, start) for start in (0, 5, 10)])
    ids: dict[str, int] = {}
    for pairs in answers:
        assert all(ids.setdefault(url, i) == i for url, i in pairs)
    assert sorted(ids.values()) == list(range(len(ids)))
    assert len(ids) == 30
    assert [p.url for p in PageStore(tmp_path).pages(list(ids.values()))] == list(ids)


@pytest.mark.parametrize("wait", [0.0, 0.003, 0.01, 0.02, 0.05])
def test_a_writer_killed_at_any_moment_leaves_whole_pages(
    tmp_path: Path, processes: ForkServerContext, wait: float
) -> None:
    told, tell = processes.Pipe(duplex=False)
    writer = processes.Process(target=write_for_ever, args=(tmp_path, tell), daemon=True)
    writer.start()
    tell.close()
    acknowledged = [told.recv() for _ in range(3)]
    time.sleep(wait)
    writer.kill()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL
    try:
        while True:
            acknowledged.append(told.recv())
    except EOFError:
        pass
    store = PageStore(tmp_path)
    ids = [i for some in acknowledged for i in some]
    assert [p.title for p in store.pages(ids)] == [f"Title {i}" for i in ids]
    (new,) = store.add([Page("https://new.example/", "New", "New")])
    assert new >= len(ids)
    assert [p.id for p in store.pages(list(range(new + 1)))] == list(range(new + 1))
    assert list(tmp_path.glob(".*.tmp")) == []


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BerdseyeError, match="cannot be written"):
        PageStore(tmp_path / "file" / "pages").add(made(1))
