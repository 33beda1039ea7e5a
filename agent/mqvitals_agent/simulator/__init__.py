"""A simulated queue-sharing group that answers PCF with PCF."""
