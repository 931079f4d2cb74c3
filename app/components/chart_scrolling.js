// A chart that is wider than its place scrolls sideways. It must take the focus, so that the arrow keys can scroll it.
const CHARTS = '[data-testid="stVegaLiteChart"]';

export default function ({ parentElement }) {
  parentElement.berdseyeScrolling?.abort();
  const stop = (parentElement.berdseyeScrolling = new AbortController());
  let waiting = 0;
  const look = () => {
    waiting = 0;
    for (const chart of document.querySelectorAll(CHARTS)) {
      if (chart.scrollWidth > chart.clientWidth) chart.tabIndex = 0;
      else chart.removeAttribute("tabindex");
    }
  };
  const lookSoon = () => { waiting ||= requestAnimationFrame(look); };
  const observer = new ResizeObserver(lookSoon);
  const found = new MutationObserver(() => {
    for (const marks of document.querySelectorAll(`${CHARTS} .marks`)) observer.observe(marks);
  });
  found.observe(document.querySelector('[data-testid="stMain"]'), { childList: true, subtree: true });
  window.addEventListener("resize", lookSoon, { signal: stop.signal });
  stop.signal.addEventListener("abort", () => { found.disconnect(); observer.disconnect(); cancelAnimationFrame(waiting); });
  return () => stop.abort();
}
