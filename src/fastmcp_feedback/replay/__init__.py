"""From a recorded failure to a fixed tool: calls made again, and tests written from records."""
