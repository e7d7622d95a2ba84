"""Readers of scientific file formats; each turns a file into one array and the value that stands for "missing"."""
