// A Streamlit container has no name and announces nothing. This makes the card a region and has each new step read out.
export default function ({ data }) {
  const card = document.querySelector(".st-key-tour");
  card?.setAttribute("role", "region");
  card?.setAttribute("aria-label", data.label);
  for (const words of document.querySelectorAll(".st-key-tour-title, .st-key-tour-text"))
    words.setAttribute("aria-live", "polite");
}
