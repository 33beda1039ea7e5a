"""Notifies receivers about alerts: decides, builds payloads, keeps notifications in the outbox, and delivers them."""
