// A passage as text nodes, in which a person selects spans as evidence: with the mouse, or sentence by sentence with keys.
// Offsets are exchanged with Python in code points; the page counts in UTF-16 units.
const merged = (spans) => {
  const found = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
};
const without = (spans, [from, to]) =>
  spans.flatMap(([start, end]) => [[start, Math.min(end, from)], [Math.max(start, to), end]].filter(([a, b]) => a < b));
const covers = (spans, [start, end]) => spans.some(([a, b]) => a <= start && end <= b);

function drawn(root, points, sentences, spans, here) {
  const cuts = [...new Set([0, points.length, ...sentences.flat(), ...spans.flat()])].sort((a, b) => a - b);
  root.replaceChildren();
  let place = 0;
  for (let n = 0; n + 1 < cuts.length; n++) {
    const text = points.slice(cuts[n], cuts[n + 1]).join("");
    const number = sentences.findIndex(([start, end]) => start <= cuts[n] && cuts[n] < end);
    const part = document.createElement(covers(spans, [cuts[n], cuts[n + 1]]) ? "mark" : "span");
    part.textContent = text;
    if (part.tagName === "MARK") part.dataset.start = String(cuts[n]);
    if (number >= 0 && number === place) {
      part.classList.add("sentence");
      part.dataset.number = String(number + 1);
      place += 1;
    }
    if (number >= 0 && number === here) part.classList.add("sentence", "here");
    root.append(part);
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".berdseye-passage");
  const line = parentElement.querySelector(".berdseye-evidence-line");
  const [button, told] = [line.querySelector("button"), line.querySelector("span")];
  const points = Array.from(data.text);
  const kept = root.berdseye;
  const state = kept?.pair === data.pair ? kept : { pair: data.pair, spans: data.spans, choosing: false, here: 0 };
  root.berdseye = state;

  const draw = () => {
    root.classList.toggle("choosing", state.choosing);
    drawn(root, points, data.sentences, state.spans, state.choosing ? state.here : -1);
    button.textContent = state.choosing ? "Done (E)" : "Evidence (E)";
    told.textContent = state.choosing
      ? "Press a sentence's number, or ↑ ↓ and Space"
      : state.spans.length ? "Click a marked part to deselect it" : "Or select text with the mouse";
  };
  const say = (spans) => {
    state.spans = merged(spans);
    draw();
    setStateValue("evidence", { pair: data.pair, spans: state.spans });
  };
  const toggle = (span) => {
    if (span) say(covers(state.spans, span) ? without(state.spans, span) : [...state.spans, span]);
  };
  const choose = (on) => {
    state.choosing = on;
    draw();
  };
  const typing = (event) => event.composedPath().some((e) => e.matches?.("input, textarea, select, [contenteditable=true]"));
  const keys = {
    e: () => choose(false),
    Escape: () => choose(false),
    ArrowDown: () => { state.here = Math.min(state.here + 1, data.sentences.length - 1); draw(); },
    ArrowUp: () => { state.here = Math.max(state.here - 1, 0); draw(); },
    " ": () => toggle(data.sentences[state.here]),
  };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    if (document.querySelector('[data-testid="stDialog"]')) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = state.choosing
      ? (keys[key] ?? (/^[1-9]$/.test(key) ? () => toggle(data.sentences[Number(key) - 1]) : null))
      : key === "e" ? () => choose(true) : null;
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat || key.startsWith("Arrow")) act();
  };
  const offset = (node, at) => {
    const before = document.createRange();
    before.selectNodeContents(root);
    before.setEnd(node, at);
    return Array.from(before.toString()).length;
  };
  const released = () => {
    const selection = window.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return;
    const range = selection.getRangeAt(0);
    if (!root.contains(range.startContainer) || !root.contains(range.endContainer)) return;
    let [start, end] = [offset(range.startContainer, range.startOffset), offset(range.endContainer, range.endOffset)];
    while (start < end && /\s/.test(points[start])) start += 1;
    while (start < end && /\s/.test(points[end - 1])) end -= 1;
    selection.removeAllRanges();
    if (start < end) say([...state.spans, [start, end]]);
  };
  const clicked = (event) => {
    const mark = event.target.closest("mark");
    if (mark) say(state.spans.filter(([a, b]) => !(a <= Number(mark.dataset.start) && Number(mark.dataset.start) < b)));
  };

  draw();
  button.onclick = () => { choose(!state.choosing); button.blur(); };
  root.onmouseup = released;
  root.onclick = clicked;
  // Streamlit calls this function at every change of `data` and runs the returned clean-up only when the component is removed. The
  // element owns the only listener, so that keys never reach the closure of an earlier pair.
  root.berdseyeKeys?.abort();
  const keysOfThisPair = (root.berdseyeKeys = new AbortController());
  window.addEventListener("keydown", pressed, { capture: true, signal: keysOfThisPair.signal });
  return () => keysOfThisPair.abort();
}
