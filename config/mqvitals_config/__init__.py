"""Settings: YAML to frozen dataclasses, every problem at its file, line and column.

The lowest of the four packages: it imports none of the others. It checks shapes only; what a rule id, a metric name or
a pattern means is judged by ``mqvitals_rules``, which returns its findings as ``Problem`` at the same place.
"""
