"""What is copied to a node and runs there: Python 3.8 or newer, standard library only; imports nothing of the rest."""
