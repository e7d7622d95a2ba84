"""Readers of file formats, a module each: from a file to its values as they are stored (`stored.Stored`)."""
