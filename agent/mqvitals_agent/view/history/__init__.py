"""What was: changes of definitions, the journal, what came before an alert, two moments compared."""
