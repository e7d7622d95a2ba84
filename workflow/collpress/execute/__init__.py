"""From a platform to measured points: toolchain, build, launcher, supervisor, receipts, status, lock."""
