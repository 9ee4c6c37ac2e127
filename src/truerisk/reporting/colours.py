"""Every colour of pages and figures, written once.

The colours of a page are told apart from its ground by a contrast of 4.5 at least, on light and on
dark.  Those of figures are Okabe and Ito's, told apart by every kind of colour vision and neither
light nor dark: they are seen on white and on black.
"""

LIGHT = {
    "paper": "#fbfbf9", "card": "#ffffff", "ink": "#1c2126", "soft": "#5b6670", "line": "#e3e5e3",
    "accent": "#0b6e8f", "accent-soft": "#cfe6ee", "warm": "#b4531f", "grid": "#eceeed",
    "lead": "#f1f6f8", "first": "#0072b2", "second": "#c25100", "third": "#00805c",
    "fourth": "#a8457f", "fifth": "#8a6d00",
}  # fmt: skip
DARK = {
    "paper": "#14181b", "card": "#1b2024", "ink": "#e7eaec", "soft": "#9aa6af", "line": "#2d343a",
    "accent": "#5cc0e0", "accent-soft": "#1f4654", "warm": "#f0955f", "grid": "#262d32",
    "lead": "#182a32", "first": "#56b4e9", "second": "#f0955f", "third": "#3fc79a",
    "fourth": "#e39ac4", "fifth": "#e6c229",
}  # fmt: skip
PRINT = LIGHT | {
    "paper": "#ffffff", "ink": "#000000", "soft": "#444444", "line": "#cccccc", "grid": "#e6e6e6",
    "lead": "#ffffff",
}  # fmt: skip
FIGURE = {
    "first": "#0072B2",
    "second": "#D55E00",
    "third": "#009E73",
    "fourth": "#CC79A7",
    "fifth": "#E69F00",
    "soft": "#777777",
}


def style_sheet() -> str:
    """Give the variables that the style sheets of a page take their colours from."""
    dark = f"@media (prefers-color-scheme: dark) {{\n{_root('', DARK)}}}\n"
    printed = f"@media print {{\n{_root('light', PRINT)}}}\n"
    return _root("light dark", LIGHT) + dark + printed


def _root(scheme: str, colours: dict[str, str]) -> str:
    listed = [f"color-scheme: {scheme};"] if scheme else []
    listed += [f"--{name}: {colour};" for name, colour in colours.items()]
    return f":root {{ {' '.join(listed)} }}\n"
