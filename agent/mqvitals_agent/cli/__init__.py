"""The headless commands, imported only when used.

A command of several modules is a package of its name; ``group`` and ``recordings`` have the commands about these.
"""
