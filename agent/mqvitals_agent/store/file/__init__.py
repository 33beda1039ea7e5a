"""The SQLite file of a store: structure, migration, lock, transactions, check and repair."""
