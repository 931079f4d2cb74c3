"""Guidelines are Markdown that anyone who makes batches may write: a browser fetches, runs and embeds nothing of them.

Served without the rules that `app/serving/gate.py` gives to browsers, so that what is drawn stands on its own.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.guidelines.versions import use
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.workspace import Workspace
from tests.browser.served import Served, served, visit

pytestmark = pytest.mark.browser

EVIL = "http://evil.example"
GUIDELINES = f"""# How to judge

Read **all** of it, then [our page](https://example.org/rules).

- one
- two

![p]({EVIL}/1.png) \\![p]({EVIL}/2.png) \\\\![p]({EVIL}/3.png) ![r] [![p]({EVIL}/4.png)]({EVIL}/5)
<img src="{EVIL}/6.png" onerror="alert(1)"> <script>alert(2)</script> <iframe src="{EVIL}/7"></iframe>
<style>body {{ background: url({EVIL}/8.png) }}</style> <svg onload="alert(3)"></svg> <a href="javascript:alert(4)">raw</a>

[a](javascript:alert(5)) [b](JaVaScRiPt:alert(6)) [c](data:text/html,<script>alert(7)</script>) [d](vbscript:x)
[e](&#106;avascript:alert(8)) <javascript:alert(9)> [f][js] :material/home: :red[red]

$\\href{{javascript:alert(10)}}{{x}} \\includegraphics{{{EVIL}/9.png}} \\htmlData{{a=b}}{{y}}$

```mermaid
graph TD; A["<img src='{EVIL}/10.png'>"] --> B; click A "javascript:alert(11)"
```

> - ```mer&#109;aid
>   graph TD
>     A@{{ img: "{EVIL}/12.png", label: "x", w: 60, h: 60 }} --> B
>   ```

~~~ mermaid
%%{{init: {{"themeCSS": "* {{ background-image: url({EVIL}/13.png) }}"}}}}%%
graph TD
  A@{{ img: "{EVIL}/14.png", label: "x", w: 60, h: 60 }} --> B
~~~

<details open ontoggle="alert(12)">

[r]: {EVIL}/11.png
[js]: javascript:alert(13)
"""


@pytest.fixture(scope="module")
def app_with_guidelines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("guidelines")
    workspace = Workspace.create(folder / "workspace")
    held = Judgments.open(workspace.judgments_url)
    pair = PairRecord("made", "q", "Should cities ban cars?", "They should.", None, "web", "", "Streets are quieter.")
    create_batch(held, BatchPlan("first"), [Item(pair)])
    use(held, GUIDELINES, made_by="Eve")
    held.engine.dispose()
    with served(workspace.folder, folder / "log", script="app/main.py") as server:
        yield server


def test_guidelines_fetch_run_and_embed_nothing(app_with_guidelines: Served, page: Page) -> None:
    """The page fixture fails on any dialog, script error and request to another machine."""
    visit(page, f"{app_with_guidelines.url}/annotate", "Ana")
    shown = page.locator(".st-key-guidelines")
    expect(shown.get_by_role("heading", name="How to judge")).to_be_visible()
    expect(shown.locator("strong", has_text="all")).to_be_visible()
    assert shown.locator("li").all_inner_texts()[:2] == ["one", "two"]
    embedded = "img, script, iframe, object, embed, style, details, form, foreignObject, [onerror], [onload]"
    found = shown.locator(embedded).evaluate_all("all => all.map(e => e.outerHTML.slice(0, 300))")
    assert found == []
    addresses = shown.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href') || '')")
    assert "https://example.org/rules" in addresses
    expect(shown.locator("pre").first).to_contain_text("graph TD")
    assert shown.get_by_test_id("stMermaidChart").count() == 0
    # Browsers open no `data:` address from a link.
    known = ("https://example.org/", f"{EVIL}/", "#", "data:text/html,")
    assert [a for a in addresses if a and not a.startswith(known)] == []
    before = page.url
    for link in shown.locator("a:not([href^=http])").all():
        link.click(force=True, timeout=5000)
    assert [opened.url.partition("#")[0] for opened in page.context.pages if not opened.url.startswith("about:")] == [
        before
    ]
