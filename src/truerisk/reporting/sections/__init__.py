"""Sections that chapters share: the explorer, curves, differences, where numbers came from."""
