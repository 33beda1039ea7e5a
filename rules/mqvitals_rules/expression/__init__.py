"""The rule language: parse, check against the vocabulary, compile. Three truth values; nothing is evaluated unchecked."""
