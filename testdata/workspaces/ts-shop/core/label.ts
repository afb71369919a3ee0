/** mark puts its text between angle quotes. */
export function mark(text: string): string {
  return `‹${text}›`;
}

export const café = "é" + mark("a");
export const shop = "日本" + mark("b");
export const smile = "😀" + mark("c") + "😀" + mark("d");
