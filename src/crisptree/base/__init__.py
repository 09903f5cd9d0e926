"""What every layer may use: errors, files, text, processes. Standard library only."""
