"""What runs inside a prison: scripts of their own that know nothing of Proctor and need the standard library only.

``python -I -S -c "from inside.warden import main; main()"`` with the folder above on the path starts one of them. They
work in every Python that runs Proctor, and import each other by their place in this folder.
"""
