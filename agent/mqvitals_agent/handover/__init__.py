"""The handover: what an operator who comes on shift asks, read from a store, as text, Markdown, HTML or JSON."""
