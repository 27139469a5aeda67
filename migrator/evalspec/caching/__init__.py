"""What earlier runs found out, kept in `.evalspec_cache/` and used only while all that it depends on is the same.

* `store.Cache`: the folder, and plain data in it by key.
* `recorder.Recorder`: what a run reads of the world, watched while it goes on.
* `states`: what a file or folder is now, in a word that another state of it has not.
* `replay.replayed`: a whole run of a command, or what the same run printed before.

Nothing here is imported before it is used: a run that is answered from what was kept loads no more than this.
"""
