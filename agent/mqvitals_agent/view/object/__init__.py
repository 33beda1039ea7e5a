"""One object: what is known of it, its card, what its rules find, what if."""
