"""The screens: the main one with its tabs, the detail of an object, its handles, and the help."""
