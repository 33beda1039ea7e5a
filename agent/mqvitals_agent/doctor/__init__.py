"""Examines queue managers: what a monitor may do there, what it may not, and which permissions to ask for."""
