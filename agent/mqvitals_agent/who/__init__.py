"""Who has a queue open: asked on demand, never polled."""
