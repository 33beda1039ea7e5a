"""What a person sees, as pure text: view models, severity words, units, the braille chart."""
