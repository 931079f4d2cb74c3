// A swipe across the card presses the button of a verdict: to the right the first, to the left the second. What the keys are refused
// is refused to a swipe too, because it is the button that answers; a finger that scrolls, selects text or rests answers nothing.
const CARD = ":is(.st-key-pair-card, .st-key-dispute-card)";
const ELSEWHERE = '[data-testid="stDialog"], .berdseye-passage.choosing, .berdseye-next-pair';
const EDGE = 24; // pixels at the sides, where the browser's own swipe leads to another page
const BEGINS = 12; // pixels after which the direction is settled
const SLANT = 1.5; // a swipe goes so many times as far sideways as up or down
const PATIENCE = 500; // milliseconds; a finger that rests longer selects text
const FAR = 0.25; // of the width of the screen

export default function ({ data, parentElement }) {
  const [hint, says] = parentElement.querySelectorAll(".berdseye-swipe-hint, .berdseye-swipe-says");
  const [left, , right] = hint.children;
  left.textContent = `← ${data.left}`;
  right.textContent = `${data.right} →`;
  let swipe = null;

  const button = (side) => document.querySelector(`.st-key-verdicts [class*="${data[`${side}Button`]}"] button`);
  const end = () => {
    if (swipe) swipe.card.style.transform = "";
    says.hidden = true;
    swipe = null;
  };
  const began = (event) => {
    end();
    const card = event.target.closest?.(CARD);
    const [touch] = event.touches;
    if (!card || event.touches.length > 1 || document.querySelector(ELSEWHERE)) return;
    if (touch.clientX < EDGE || touch.clientX > window.innerWidth - EDGE) return;
    const selected = window.getSelection();
    if (!selected.isCollapsed && card.contains(selected.anchorNode)) return;
    swipe = { card, x: touch.clientX, y: touch.clientY, at: event.timeStamp, settled: false, by: 0 };
  };
  const moved = (event) => {
    if (!swipe) return;
    const [touch] = event.touches;
    const [across, along] = [touch.clientX - swipe.x, touch.clientY - swipe.y];
    if (!swipe.settled) {
      if (Math.hypot(across, along) < BEGINS) return;
      const isSwipe = Math.abs(across) > SLANT * Math.abs(along) && event.timeStamp - swipe.at < PATIENCE;
      if (event.touches.length > 1 || !isSwipe) return end();
      swipe.settled = true;
    }
    swipe.by = across;
    const side = across > 0 ? "right" : "left";
    const { left: x, top, width, height } = swipe.card.getBoundingClientRect();
    swipe.card.style.transform = `translateX(${Math.round(across / 2)}px)`;
    says.textContent = data[side];
    says.className = `berdseye-swipe-says ${side}${isFar() ? " far" : ""}`;
    says.style.left = `${x + width / 2}px`;
    says.style.top = `${top + height / 3}px`;
    says.hidden = false;
  };
  const isFar = () => Math.abs(swipe.by) > FAR * window.innerWidth;
  const ended = (event) => {
    if (!swipe?.settled) return end();
    const pressed = isFar() && !event.touches.length ? button(swipe.by > 0 ? "right" : "left") : null;
    end();
    if (pressed && !pressed.disabled) pressed.click();
  };

  parentElement.berdseyeSwipe?.abort();
  const listening = (parentElement.berdseyeSwipe = new AbortController());
  const listen = { capture: true, passive: true, signal: listening.signal };
  document.addEventListener("touchstart", began, listen);
  document.addEventListener("touchmove", moved, listen);
  document.addEventListener("touchend", ended, listen);
  document.addEventListener("touchcancel", end, listen);
  return () => listening.abort();
}
