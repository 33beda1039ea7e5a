"""From alerts to notices: inhibit, silence, group, deduplicate, outbox, deliver. This room is still empty."""
