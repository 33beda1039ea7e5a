"""The lifecycle of an alert: inactive, pending, firing, resolved. Pure functions that return the reason of each step."""
