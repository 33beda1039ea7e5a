"""``mqvitals plan``: the formulas of the documents, each a calculator."""
