"""YAML to frozen dataclasses: nodes with positions, types of values, problems, secrets."""
