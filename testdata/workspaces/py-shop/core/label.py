"""Labels in several scripts."""


def mark(text: str) -> str:
    """mark puts its text between angle quotes."""
    return f"‹{text}›"


café = "é" + mark("a")
shop = "日本" + mark("b")
smile = "😀" + mark("c") + "😀" + mark("d")
