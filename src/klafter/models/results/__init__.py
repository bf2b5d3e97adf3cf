"""What a fit found: published attributes, levels, probabilities, names, stability."""
