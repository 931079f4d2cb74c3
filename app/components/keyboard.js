// Keys that no Streamlit button can have: they click or focus what stands in a named container. A key that is held down
// counts once, so that nobody judges ten pairs by leaning on a key.
const typing = (event) =>
  event.composedPath().some(
    (element) => element.matches?.("textarea, select, [contenteditable=true], input:not([type=checkbox], [type=radio])"),
  );

let shown;

export default function ({ data }) {
  if (data.cards && shown !== undefined && shown !== data.place)
    document.querySelectorAll(data.cards)[data.place]?.scrollIntoView({ block: "nearest" });
  shown = data.place;
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
    if (!bound) return;
    const inside = bound.focus ? "input, textarea" : "button, input";
    const found = document.querySelector(`.st-key-${bound.target}`)?.querySelector(inside);
    if (!found) return;
    event.preventDefault();
    if (bound.focus) found.focus();
    else found.click();
  };
  window.addEventListener("keydown", pressed, true);
  return () => window.removeEventListener("keydown", pressed, true);
}
