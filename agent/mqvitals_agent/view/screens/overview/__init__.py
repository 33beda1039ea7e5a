"""The overview: queue managers, coupling facility, alerts, and panels where rows are free."""
