"""What a user asks for, carried out stage by stage into a run directory."""
