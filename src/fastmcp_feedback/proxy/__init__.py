"""The proxy: records any MCP server, in any language, by standing between it and its client."""
