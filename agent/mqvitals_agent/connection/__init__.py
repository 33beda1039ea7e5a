"""Connections to queue managers: queries, answers, the MQI, recordings."""
