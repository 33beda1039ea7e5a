"""SQLite: objects, current state, history, alerts; queries over them."""
