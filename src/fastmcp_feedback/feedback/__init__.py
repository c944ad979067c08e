"""Feedback that carries its evidence: tools to report, read and triage, each report with the calls that led to it."""
