"""One module a screen: what was read, as lines of styled spans for a width."""
