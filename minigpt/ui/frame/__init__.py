"""What surrounds every page: navigation, the strip, playback."""
