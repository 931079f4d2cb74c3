// One card of a list has the focus, and the verdict keys act on it. The focus moves here, in the browser: if J and 1 are pressed
// quickly, 1 acts on the card that J moved to, however long the server takes. A verdict is given only to a card on the screen.
const CURRENT = "aria-current";
const typing = (event) =>
  event.composedPath().some(
    (element) => element.matches?.("textarea, select, [contenteditable=true], input:not([type=checkbox], [type=radio])"),
  );

// The height of the bar above the page in pixels, which covers what is scrolled under it.
const BAR = 48;
function isOnScreen(element) {
  const { top, bottom, height } = element.getBoundingClientRect();
  const inSight = Math.min(bottom, window.innerHeight) - Math.max(top, BAR);
  return inSight >= 0.5 * Math.min(height, window.innerHeight - BAR);
}
const isWholeOnScreen = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= BAR && bottom <= window.innerHeight;
};

export default function ({ data, parentElement }) {
  const line = parentElement.querySelector(".berdseye-card-focus");
  const [previous, next, hint] = line.children;
  const state = (line.berdseye ??= { view: data.view, place: 0 });
  if (state.view !== data.view) Object.assign(state, { view: data.view, place: 0 });
  state.stop?.abort();
  const stop = (state.stop = new AbortController());

  const cards = () => [...document.querySelectorAll(data.cards)];
  // Streamlit sometimes creates a card's element again, without the mark.
  // If the list has become shorter, its last card has the focus.
  const placeIn = (all) => Math.min(state.place, all.length - 1);
  const mark = () => {
    const all = cards();
    const current = all[placeIn(all)];
    for (const card of all) {
      if (card === current) card.setAttribute(CURRENT, "true");
      else card.removeAttribute(CURRENT);
    }
    return current;
  };
  const focus = (place) => {
    state.place = place;
    hint.textContent = "";
    const card = mark();
    if (card && !isWholeOnScreen(card)) card.scrollIntoView({ block: "nearest" });
  };
  const focusWhatIsOnScreen = () => {
    const seen = cards().findIndex(isOnScreen);
    focus(seen >= 0 ? seen : state.place);
  };
  const move = (step) => {
    const all = cards();
    if (!all.length) return;
    const place = placeIn(all);
    if (isOnScreen(all[place])) focus((place + step + all.length) % all.length);
    else focusWhatIsOnScreen();
  };
  const answer = (number) => {
    const card = mark();
    if (!card) return;
    const places = card.querySelectorAll(`[class*="${data.answers}${number}-"]`);
    // Two buttons: the label has just changed and the old button is not removed yet. Nobody has seen the new one.
    if (places.length !== 1) return;
    if (isOnScreen(card)) {
      hint.textContent = "";
      places[0].querySelector("button").click();
      return;
    }
    focusWhatIsOnScreen();
    hint.textContent = `Nothing was recorded: the focused passage was not on the screen. Press ${number} again.`;
  };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    const key = event.key.toLowerCase();
    const act = { j: () => move(1), k: () => move(-1) }[key] ?? (/^[1-9]$/.test(key) ? () => answer(Number(key)) : null);
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat || key === "j" || key === "k") act();
  };
  const clicked = (event) => {
    const place = cards().findIndex((card) => card.contains(event.target));
    if (place >= 0 && place !== state.place) {
      state.place = place;
      mark();
    }
  };

  previous.onclick = () => move(-1);
  next.onclick = () => move(1);
  window.addEventListener("keydown", pressed, { capture: true, signal: stop.signal });
  document.addEventListener("click", clicked, { capture: true, signal: stop.signal });
  const redrawn = new MutationObserver(() => {
    if (!document.querySelector(`:is(${data.cards})[${CURRENT}]`)) mark();
  });
  redrawn.observe(document.body, { childList: true, subtree: true });
  stop.signal.addEventListener("abort", () => redrawn.disconnect());
  mark();
  return () => stop.abort();
}
