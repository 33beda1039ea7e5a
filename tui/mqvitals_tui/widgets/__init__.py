"""Widgets that paint styled lines and tables, only the lines in sight."""
