"""Redacts a recording: the names of the site are replaced, and the replay gives the same alerts."""
