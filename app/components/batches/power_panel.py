"""How many questions, pairs and people a study needs: three small calculators with their curves."""

import altair as alt
import streamlit as st

from berdseye.app.access.session import errors_in_place
from berdseye.evaluation.statistics.power import pairs_for_kappa, people_for_accuracy, questions_for_difference
from berdseye.evaluation.statistics.power_charts import pairs_chart, people_chart, questions_chart


def draw_power() -> None:
    """Draw the switch that shows the calculators."""
    if not st.toggle("How many questions, pairs and people?", key="power"):
        return
    with st.container(border=True):
        questions, pairs, people = st.columns(3)
        with questions, errors_in_place():
            _questions()
        with pairs, errors_in_place():
            _pairs()
        with people, errors_in_place():
            _people()


def _questions() -> None:
    st.markdown("**Questions** to find a difference of two runs")
    difference = _number("Mean difference", 0.05, "power-difference", "Of a measure from 0 to 1, such as MRecall@5.")
    deviation = _number("Standard deviation", 0.2, "power-deviation", "Of the differences by question.")
    power = _number("Power", 0.8, "power-power", "The chance that the paired t test at 5% finds the difference.")
    needed = questions_for_difference(difference, deviation, power=power)
    _draw("questions", needed, questions_chart(difference, deviation, needed, power=power))


def _pairs() -> None:
    st.markdown("**Pairs** for an interval of kappa")
    kappa = _number("Kappa that you expect", 0.6, "power-kappa", "Of two people.")
    width = _number("Width of its 95% interval", 0.2, "power-width", "From end to end.")
    positive = _number("Share of positive pairs", 0.3, "power-positive", "The share that a person calls positive.")
    needed = pairs_for_kappa(kappa, positive, width)
    _draw("pairs", needed, pairs_chart(kappa, positive, needed, width=width))


def _people() -> None:
    st.markdown("**People** for each pair")
    accuracy = _number("Chance that one person is right", 0.8, "power-accuracy", "Above 0.5, for people who err alone.")
    wanted = _number("Chance that the majority is right", 0.95, "power-wanted", "What you want.")
    needed = people_for_accuracy(accuracy, wanted)
    _draw("people", needed, people_chart(accuracy, needed, wanted=wanted))


def _number(label: str, value: float, key: str, help_text: str) -> float:
    return float(st.number_input(label, value=value, step=0.05, format="%.2f", key=key, help=help_text))


def _draw(what: str, needed: int, chart: alt.LayerChart) -> None:
    st.metric(what.capitalize(), f"{needed:,}")
    st.altair_chart(chart, key=f"power-{what}-chart", alt=f"What the number of {what} gives")
