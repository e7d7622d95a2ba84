"""What a prepared dataset looks like: a card of numbers, and a page that draws them. Nothing measured depends on it."""
