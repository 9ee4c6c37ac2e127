"""Results → what people read: terminal, JSON, CSV, Markdown, LaTeX, one HTML page, figures.

Every text that came from data passes through `escaping` on its way out.  Names are loaded when
they are used: a table in the terminal needs no page, and a page needs no terminal.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "figures": ["forest"],
        "files": ["check_destination", "write_whole"],
        "formats": ["FORMATS"],
        "html": ["page_html", "save_report"],
        "page": ["page_data"],
        "summary": ["print_summary"],
    },
)
