"""Commands that look things up: metrics, pages of the documentation, completion."""
