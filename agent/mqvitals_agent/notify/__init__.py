"""From alerts to notices: which transitions are told to whom (``pipeline``), kept in the store, delivered by webhook."""
