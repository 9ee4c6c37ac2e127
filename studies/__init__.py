"""The evidence behind truerisk, measured and reproduced here; no part of the installed package.

==============  ==================================================================================
folder          holds
==============  ==================================================================================
audit/          how often each interval covers and each test errs, measured with the truth known
reproduction/   the tables of the literature recomputed, the printed figures beside ours
ledgers/        what the audits measured, as CSV; pages and shipped data are made from these files
==============  ==================================================================================
"""
