"""The tables of a store: repositories of their rows, and what a snapshot writes."""
