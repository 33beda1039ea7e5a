"""The documents' capacity formulas as calculators: pure functions of the standard library alone."""
