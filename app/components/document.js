// Links between documents open in the same tab, without loading the app again, and the page goes to the named heading. Pictures
// that arrive later move what is below them, so the heading is kept in place until the person scrolls.
const PATIENCE = 4000;

// Streamlit gives anchors of its own to small headings, so these are found by their texts, as GitHub forms anchors.
const anchorOf = (heading) => heading.textContent.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");

export default function ({ data, parentElement }) {
  parentElement.berdseyeDocument?.abort();
  const stop = (parentElement.berdseyeDocument = new AbortController());
  const own = { signal: stop.signal };
  const places = [".st-key-documentation-text", ".st-key-documentation-contents"];

  const clicked = (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest?.("a[href]");
    if (!link?.getAttribute("href").startsWith(data.links) || !places.some((place) => link.closest(place))) return;
    event.preventDefault();
    const part = new URL(link.href).searchParams.get("part") ?? "";
    if (link.href === location.href) return goTo(part);
    // As with the buttons Back and Forward, Streamlit shows what the address names, in the same session.
    history.pushState(null, "", link.href);
    window.dispatchEvent(new PopStateEvent("popstate", { state: null }));
  };
  const goTo = (part) => {
    const until = performance.now() + PATIENCE;
    const main = document.querySelector('[data-testid="stMain"]');
    const moved = new AbortController();
    for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"])
      window.addEventListener(kind, () => moved.abort(), { capture: true, once: true, signal: moved.signal });
    stop.signal.addEventListener("abort", () => moved.abort());
    const step = () => {
      if (moved.signal.aborted || performance.now() > until) return moved.abort();
      const text = document.querySelector(places[0]);
      const heading =
        text?.querySelector(`[id="${CSS.escape(part)}"]`) ??
        [...(text?.querySelectorAll("h4, h5, h6") ?? [])].find((other) => anchorOf(other) === part);
      if (part) heading?.scrollIntoView({ block: "start" });
      else main.scrollTo(0, 0);
      setTimeout(step, 50);
    };
    step();
  };

  document.addEventListener("click", clicked, { capture: true, ...own });
  parentElement.dataset.links = "same-tab";
  const shown = `${data.document}#${data.part}`;
  if (parentElement.berdseyeShown !== shown) {
    parentElement.berdseyeShown = shown;
    goTo(data.part);
  }
  return () => stop.abort();
}
