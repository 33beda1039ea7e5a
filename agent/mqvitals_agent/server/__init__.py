"""The agent's small server: metrics and status over HTTP, read-only."""
