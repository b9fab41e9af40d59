"""The page of one call: its verdict, values, consumers and call stack."""
