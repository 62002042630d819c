"""Controls and choices that several pages use."""
