"""The headless commands, one module each, imported only when used."""
