// A container of Streamlit has no name and announces nothing. The card is a region, and its step is read out when it changes.
export default function ({ data }) {
  const card = document.querySelector(".st-key-tour");
  card?.setAttribute("role", "region");
  card?.setAttribute("aria-label", data.label);
  for (const words of document.querySelectorAll(".st-key-tour-title, .st-key-tour-text"))
    words.setAttribute("aria-live", "polite");
}
