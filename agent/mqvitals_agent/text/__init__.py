"""The ground floor: text made safe and laid out, figures in words, charts, and lines of styled spans.

Imports nothing above the rules.
"""
