"""Reviews: the rules' findings about a store, and about SMF files (``mqvitals review``, ``mqvitals smf report``)."""
