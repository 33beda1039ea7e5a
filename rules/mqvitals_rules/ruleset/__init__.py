"""Rules and facts of a site: read from packs and settings, checked, and in force for an engine."""
