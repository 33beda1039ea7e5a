"""The headless commands, imported only when used.

A command of several modules is a package of its name; ``group``, ``recordings`` and ``reference`` have the commands about these.
"""
