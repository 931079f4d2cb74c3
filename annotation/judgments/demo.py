"""The judgments of two simulated annotators of the demo, who read the same pairs independently: Noor generously, Tomas strictly.

Neither is a person: their judgments fill the pages of the demo and support no conclusions.
"""

import json
from importlib.resources import files
from uuid import NAMESPACE_URL, uuid5

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.demo.content import topics


def add_demo_judgments(judgments: Judgments) -> int:
    """Record the demo judgments, marked as demo data; repeating the call adds nothing. Returns how many there are."""
    by_name = {t["topic"]: t for t in topics()}
    rows = json.loads((files("berdseye.data.demo") / "judgments.json").read_text(encoding="utf-8"))
    records = []
    for row in rows:
        topic = by_name[row["topic"]]
        passage, perspective = topic["passages"][row["passage"]], topic["perspectives"][row["perspective"]]
        records.append(
            PairRecord(
                dataset=topic["dataset"],
                question_id=topic["topic"],
                question=topic["question"],
                perspective=perspective["text"],
                stance=perspective["stance"],
                corpus=passage["corpus"],
                title=passage["title"],
                passage=passage["text"],
                url=passage["url"],
            )
        )
    keys = judgments.add_pairs(records)
    count = 0
    for key, row in zip(keys, rows, strict=True):
        for name, judgment in row["judgments"].items():
            person = judgments.sign_in(name, demo=True)
            uid = str(uuid5(NAMESPACE_URL, f"berdseye-demo/{key}/{name}"))
            judgments.judge(person, key, judgment["verdict"], source="demo", comment=judgment["comment"], uid=uid)
            count += 1
    return count
