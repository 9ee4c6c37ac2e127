"""Linear SVMs on a dense table of few features."""
