"""A believable queue-sharing group that answers PCF with PCF: its site, its scenarios, its model, its command servers."""
