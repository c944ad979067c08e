"""Delivery: takes finished records off the caller's hands and brings each one to each sink, or says why not."""
