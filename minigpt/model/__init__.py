"""The GPT itself, the trace of its stages, and its checkpoints."""
