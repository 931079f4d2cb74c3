"""How far a partly annotated set can be trusted (D-MERIT): rankings of systems under some of the labels and under all."""
