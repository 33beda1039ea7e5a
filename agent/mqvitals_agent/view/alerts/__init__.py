"""Alerts in words: order and advice, what people did about them, where they are sent, what mutes them."""
