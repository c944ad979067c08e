"""The spool: records on disk until every sink has taken them, so that a killed process loses none.

`frames` is the format, `segment` one file, `folder` the directory and its locks, `recovery` what dead processes left,
`spool` all of it behind one lock, `admin` what the command line shows.
"""
