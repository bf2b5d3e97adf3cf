"""Models beside scikit-learn, tables and other graph libraries."""
