// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/

/** Whether a text holds a control character (Unicode category Cc: C0, DEL and C1), NUL included. */
export function hasControlCharacter(text: string): boolean {
  return controlCharacter.test(text)
}
