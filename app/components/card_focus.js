// One card of a list has the focus, and the verdict keys act on it. The focus moves here, in the browser: if J and 1 are pressed
// quickly, 1 acts on the card that J moved to, however long the server takes. A verdict is given only to a card on the screen.
const CURRENT = "aria-current";
const typing = (event) =>
  event.composedPath().some(
    (element) => element.matches?.("textarea, select, [contenteditable=true], input:not([type=checkbox], [type=radio])"),
  );

// While a dialog is open, keys belong to the cards in it.
const DIALOG = '[data-testid="stDialog"]';
const dialogOf = (element) => element.closest(DIALOG);

// The bar above the page, in pixels, and the line below it that stays in sight cover what is scrolled under them.
const BAR = 48;
const line = () => document.querySelector('[data-testid="stLayoutWrapper"]:has(> .st-key-judging)');
const covered = (element) => {
  const stays = dialogOf(element) ? null : line();
  if (!stays || stays.contains(element)) return BAR;
  const { top, bottom } = stays.getBoundingClientRect();
  return getComputedStyle(stays).position === "sticky" && top <= BAR + 1 ? Math.max(BAR, bottom) : BAR;
};
const roomAbove = () => {
  const stays = line();
  return BAR + 12 + (stays && getComputedStyle(stays).position === "sticky" ? stays.getBoundingClientRect().height : 0);
};
function isOnScreen(element) {
  const { top, bottom, height } = element.getBoundingClientRect();
  const bar = covered(element);
  const inSight = Math.min(bottom, window.innerHeight) - Math.max(top, bar);
  return inSight >= 0.5 * Math.min(height, window.innerHeight - bar);
}
const isWholeOnScreen = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= covered(element) && bottom <= window.innerHeight;
};

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".berdseye-card-focus");
  const [previous, next, hint] = root.children;
  const state = (root.berdseye ??= { view: data.view, place: 0 });
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
    const room = dialogOf(root) ? 12 : roomAbove();
    // The line that stays in sight has the colour of the page, whatever the theme.
    const app = document.querySelector(".stApp");
    document.documentElement.style.setProperty("--page-colour", getComputedStyle(app).backgroundColor);
    for (const card of all) {
      card.style.scrollMargin = `${room}px 0 1rem`;
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
    if (places.length > 1) return;
    if (places.length === 0) {
      hint.textContent = `Nothing was recorded: no button here has the number ${number}.`;
      return;
    }
    const button = places[0].querySelector("button");
    const read = data.reads && document.querySelector(data.reads);
    if (button.disabled) {
      hint.textContent = `Nothing was recorded. ${data.refusal || "This label is adjudicated: change it on the Adjudication page."}`;
    } else if (!isOnScreen(card)) {
      focusWhatIsOnScreen();
      hint.textContent = `Nothing was recorded: the focused passage was not on the screen. Press ${number} again.`;
    } else if (read && !isOnScreen(read)) {
      read.scrollIntoView({ block: "nearest" });
      hint.textContent = `Nothing was recorded: the passage was not on the screen. Press ${number} again.`;
    } else {
      hint.textContent = "";
      button.click();
    }
  };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    const dialog = dialogOf(root);
    if (!dialog && document.querySelector(DIALOG)) return;
    const key = event.key.toLowerCase();
    const press = (name) => () => dialog.querySelector(name)?.click();
    const act =
      { j: () => move(1), k: () => move(-1) }[key] ??
      (/^[1-9]$/.test(key) ? () => answer(Number(key)) : null) ??
      (dialog && data.presses[key] ? press(data.presses[key]) : null) ??
      (dialog && key.length === 1 && key !== " " ? () => {} : null);
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
