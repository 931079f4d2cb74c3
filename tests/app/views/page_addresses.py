"""An address of every page at which it has something to show, for whatever looks at all of them."""

from berdseye.app.access.roles import PAGES
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.workspace import Workspace


def page_addresses(workspace: Workspace) -> dict[str, dict[str, str]]:
    """What stands in each page's address, by the page's name, in the order of the table of pages: pages of one question or
    passage show the first of the first run, and Failures and Compare read it out."""
    run = load_run(workspace, list_runs(workspace)[0].name)
    question = next(q for q in load_dataset(workspace, run.manifest.dataset) if q.id == run.question_ids[0])
    asked = {"set": run.manifest.dataset, "question": question.id}
    known = {
        "explore": asked,
        "search": {**asked, "q": question.text},
        "passage": {"corpus": run.manifest.corpus, "id": str(run.ids[0, 0])},
        "question": asked,
        "perspectives": {"dataset": run.manifest.dataset, "about": question.id},
        "failures": {"run": run.manifest.name, "question": question.id, "place": "1"},
        "compare": {"a": run.manifest.name, "question": question.id},
    }
    return {name: known.get(name, {}) for name in PAGES}
