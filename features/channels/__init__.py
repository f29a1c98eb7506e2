"""Channels of pixel features, one file each."""
