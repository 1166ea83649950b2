"""Scripts that run inside a prison: standalone, with the standard library only.

``python -I -S -c "from inside.warden import main; main()"`` with the folder above on the path starts one of them. They
work in every Python that runs Proctor, and import each other by their place in this folder.
"""
