"""The screens: the main one with its places, the detail of an object, and the help."""
