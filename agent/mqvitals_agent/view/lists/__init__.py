"""Lists of objects: their columns, order and filter, what leads, and what belongs to what."""
