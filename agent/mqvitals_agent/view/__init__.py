"""What a person sees: values read from the store, tables, and what the screens have in common.

``screens`` makes their lines.
"""
