"""The sections of the records, one table each: what lies where. Sources: IBM's documents and macros, see
docs/smf.md.
"""
