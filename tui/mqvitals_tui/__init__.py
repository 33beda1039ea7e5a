"""The terminal interface; the console script ``mqvitals`` starts here."""
