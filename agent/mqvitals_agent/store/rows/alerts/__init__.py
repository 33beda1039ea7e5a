"""Alerts, what people did about them, and the notifications that they are owed."""
