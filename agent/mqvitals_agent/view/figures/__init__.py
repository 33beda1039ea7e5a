"""Figures in cells: values with their rates and ages, trends and forecasts, meters, tables as data."""
