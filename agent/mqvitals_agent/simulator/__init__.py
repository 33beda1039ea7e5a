"""A believable queue-sharing group that answers PCF with PCF. Today: the maker of the small demonstration recording."""
