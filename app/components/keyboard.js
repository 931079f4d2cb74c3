// Keys that no Streamlit button can have: they click or focus the widget in a named container. A key that is held down counts
// once, so that nobody judges ten pairs by holding a key.
const typing = (event) =>
  event.composedPath().some(
    (element) => element.matches?.("textarea, select, [contenteditable=true], input:not([type=checkbox], [type=radio])"),
  );

export default function ({ data, parentElement }) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event)) {
      if (event.key === "Escape") document.activeElement.blur();
      return;
    }
    if (event.repeat && event.key.length === 1) {
      event.stopImmediatePropagation();
      return;
    }
    const bound = data.bindings[event.key.toLowerCase()];
    if (!bound || document.querySelector('[data-testid="stDialog"]')) return;
    const inside = bound.focus ? "input, textarea" : "button, input";
    const found = document.querySelector(`.st-key-${bound.target}`)?.querySelector(inside);
    if (!found) return;
    event.preventDefault();
    if (bound.focus) found.focus();
    else found.click();
  };
  // Streamlit calls this function at every change of `data` and runs the returned clean-up only when the component is removed. The
  // element owns the only listener, so that no key is handled twice.
  parentElement.berdseyeKeys?.abort();
  const keys = (parentElement.berdseyeKeys = new AbortController());
  window.addEventListener("keydown", pressed, { capture: true, signal: keys.signal });
  return () => keys.abort();
}
