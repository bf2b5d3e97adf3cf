"""Links in tables: separators, headers, columns, values, matrices, sheets."""
