"""Data: registry, fetching, reading, generating, preparing; a dataset ends as `<id>.bin` and its sidecar
`<id>.json`."""
