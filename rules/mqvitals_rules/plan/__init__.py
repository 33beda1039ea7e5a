"""The documents' capacity formulas, as pure functions. This room is still empty."""
