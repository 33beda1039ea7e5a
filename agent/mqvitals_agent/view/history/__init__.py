"""What was: charts and reports of trends, the journal, what came before an alert, two moments compared."""
