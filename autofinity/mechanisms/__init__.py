"""One short recipe per published mechanism."""
