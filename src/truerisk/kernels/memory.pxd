# What Python's own syntax has no word for.

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define fetch_ahead(address) __builtin_prefetch(address)
    #else
    #define fetch_ahead(address)
    #endif
    """
    void fetch_ahead(const void *address) nogil  # bring a line of memory to the cache, if it exists
