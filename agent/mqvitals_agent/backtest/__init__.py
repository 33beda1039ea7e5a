"""Rules over stored history: which alerts would have fired, beside those that did."""
