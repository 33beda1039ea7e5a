"""SMF 115 and 116: the statistics and accounting records of IBM MQ for z/OS, read from files."""
