"""Megabytes of XML a second, and peak memory, of reading a dump of 100,000 articles on one core.

Seconds are of processor time, so that other work on the machine does not count. BERDSEYE_BENCH_DUMP names another dump, for
example a real one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.wikipedia.made_dump import make_dump

_BAR_MB, _MOST_MEMORY_MB = 20.0, 1_500
_READ = """
import json, os, re, sys, time
from pathlib import Path
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from berdseye.data.wikipedia.store import read_dump
from berdseye.data.wikipedia.tables import columns
from berdseye.data.wikipedia.wikitext import Titles
began, wall, parts = time.process_time(), time.perf_counter(), []
def progress(done, what, total=None):
    parts.append(time.process_time() - began)
wiki = read_dump(Path(sys.argv[1]), Path(sys.argv[2]), progress=progress)
read, wall = time.process_time() - began, time.perf_counter() - wall
began, titles = time.process_time(), Titles(wiki.site)
lists = sum(len(found.wikitext) for found in wiki.lists())
found = sum(len(list(columns(found.wikitext, titles))) for found in wiki.lists())
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024
mb = wiki.counts.bytes / 1e6
print(json.dumps({"mb": round(mb), "mb_a_s": round(mb / read, 1), "without_resolving_mb_a_s": round(mb / parts[-1], 1),
                  "wall_mb_a_s": round(mb / wall, 1), "articles": wiki.counts.articles, "links": wiki.counts.links,
                  "unclosed": wiki.counts.unclosed, "peak_mb": peak, "lists": wiki.counts.lists, "columns": found,
                  "lists_mb_a_s": round(lists / 1e6 / (time.process_time() - began), 2)}))
"""


@pytest.mark.benchmark
def test_a_dump_is_read_at_20_megabytes_a_second(tmp_path: Path) -> None:
    given = os.environ.get("BERDSEYE_BENCH_DUMP")
    dump = Path(given) if given else make_dump(tmp_path / "dump.xml", 100_000, 2_000, words=350).path
    child = subprocess.run(
        [sys.executable, "-c", _READ, str(dump), str(tmp_path / "store")], capture_output=True, text=True, check=True
    )
    measured = json.loads(child.stdout)
    print(f"\n{dump.name}: {measured}")
    assert measured["mb_a_s"] >= _BAR_MB
    assert measured["peak_mb"] <= _MOST_MEMORY_MB
