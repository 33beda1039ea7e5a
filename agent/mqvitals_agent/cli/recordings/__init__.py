"""Commands about recordings of exchanges: made, redacted, played; and about the PCF messages in them."""
