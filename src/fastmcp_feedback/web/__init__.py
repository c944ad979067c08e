"""The dashboard: questions of `query/` as pages for people, each with a JSON twin for programs."""
