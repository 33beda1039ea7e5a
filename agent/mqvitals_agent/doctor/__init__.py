"""Examining queue managers: what a monitor may do there, what it may not, and what to ask for."""
