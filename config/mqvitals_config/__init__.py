"""Settings: YAML to frozen dataclasses, every problem at its file, line and column.

The lowest of the four packages: it imports none of the others. It checks the form only; ``mqvitals_rules`` checks rule
ids, metric names and patterns, and reports a ``Problem`` at the same place.
"""
