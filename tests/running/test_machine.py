import platform
import subprocess
import sys

from proctor.running.machine import platform_name


def test_the_platform_has_its_usual_name():
    assert platform_name() == platform.platform()


def test_no_process_is_started_for_the_name():
    program = (
        "import subprocess\n"
        "def refuse(*given, **named):\n    raise AssertionError(given)\n"
        "subprocess.Popen = subprocess.check_output = refuse\n"
        "from proctor.running.machine import platform_name\nprint(platform_name())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
