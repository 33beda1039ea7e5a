"""Cycles of polls: when they begin, who asks what, and what is stored of them."""
