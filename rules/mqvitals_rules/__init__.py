"""Judging, without input or output: the vocabulary, the rule language, the alert life cycle and the shipped packs."""
