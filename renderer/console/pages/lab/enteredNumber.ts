/** Returns the number in a field; NaN for an empty field, which `Number` would convert to 0. */
export function enteredNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}
