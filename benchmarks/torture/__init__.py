"""Every fault that a user's machine can produce, tried by a program, again and again."""
