"""Where the modules of schema versions and migrations live once loaded: `evalspec.spec.<family>.<version>`.

In a wheel the folders `schemas`, `migrations` and `fixtures` lie beside this file; in a checkout they are read from the
top level of the repository.
"""
