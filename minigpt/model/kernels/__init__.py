"""Fast twins of the staged forward, each tested equal to it."""
