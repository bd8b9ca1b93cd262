"""Cases of outputs that are no place for a file; run.py runs them. None writes to /dev itself: the links lie in the case's folder."""
import os

from cases import case, relu, save


def link(folder, name, target):
    (folder / name).symlink_to(target)
    return folder / name


@case(2, r"-o '-' names no file: onnxc writes a file")
def output_is_a_dash(folder):
    return [*save(folder, relu())[:1], "-o", "-"]


@case(2, r"--output: expected FILE, got ''")
def output_without_a_name(folder):
    return [*save(folder, relu())[:1], "-o", ""]


def to_open_file(folder):
    """A path of /proc that is a regular file, as /dev/stdout is where standard output is one; this process keeps it open."""
    return f"/proc/{os.getpid()}/fd/{os.open(folder / 'log', os.O_CREAT | os.O_WRONLY)}"


@case(2, r"the output '.*out\.so' is an entry of /dev or /proc; onnxc writes a file")
def output_is_a_link_to_an_open_file(folder):
    link(folder, "out.so", to_open_file(folder))
    return save(folder, relu())


@case(2, r"the output '.*out\.so' is an entry of /dev or /proc")
def output_is_a_link_to_such_a_link(folder):
    (folder / "inner").mkdir()
    link(folder, "inner/first", to_open_file(folder))
    link(folder, "out.so", "inner/first")
    return save(folder, relu())


@case(2, r"the output '.*out\.so\.weights' is an entry of /dev or /proc")
def weights_are_a_link_to_an_open_file(folder):
    link(folder, "out.so.weights", to_open_file(folder))
    return save(folder, relu(), "--weights", "external")


@case(2, r"the output '.*kept\.json' is an entry of /dev or /proc")
def schedules_are_a_link_to_an_open_file(folder):
    return save(folder, relu(), "--tune=1", "--schedules", link(folder, "kept.json", to_open_file(folder)))


@case(2, r"the output '.*out\.so' is an entry of /dev or /proc")
def output_is_a_link_to_nothing_in_proc(folder):
    link(folder, "out.so", "/proc/self/no-such-entry")
    return save(folder, relu())
