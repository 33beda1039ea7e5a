"""The terminal interface, on top of everything else; the console script starts here."""
