"""Decides who is notified about which alert, when and why. Pure: no store, no network, no clock of its own."""
