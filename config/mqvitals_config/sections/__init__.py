"""The sections of the settings, a module for each."""
