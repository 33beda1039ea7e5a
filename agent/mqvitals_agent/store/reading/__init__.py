"""The queries of a reader, by what they are about."""
