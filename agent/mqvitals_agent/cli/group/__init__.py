"""Commands about the monitored group: what a store holds of it, and what its queue managers answer now."""
