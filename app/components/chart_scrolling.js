// A chart that is wider than its place scrolls sideways. It must take the focus, so that the arrow keys can scroll it.
const CHARTS = '[data-testid="stVegaLiteChart"]';

export default function ({ parentElement }) {
  parentElement.berdseyeScrolling?.();
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
  const watch = () => {
    for (const part of document.querySelectorAll(`${CHARTS}, ${CHARTS} .marks`)) observer.observe(part);
  };
  const found = new MutationObserver(watch);
  watch();
  found.observe(document.querySelector('[data-testid="stMain"]'), { childList: true, subtree: true });
  const stop = () => { found.disconnect(); observer.disconnect(); cancelAnimationFrame(waiting); };
  return (parentElement.berdseyeScrolling = stop);
}
