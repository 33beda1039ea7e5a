"""The reader of SMF 115 and 116 records. This room is still empty."""
