"""Objects, the samples of their metrics, current values, and what was known as of a moment."""
