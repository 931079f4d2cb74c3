"""Words that debates are made of in these tests, and where the real ones lie."""

from pathlib import Path

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "perspectrum"
FILLER = "and this goes on for quite a while so that the text is as long as passages are in real life, or nearly"
WORDS = """
zoos nuclear-power homework tipping whaling bullfighting monarchy vaccines algebra opera taxis chewing-gum
lotteries hunting surrogacy tobacco biofuels chess passports tattoos dams robots advertising graffiti
"""
SUBJECTS = WORDS.split()
