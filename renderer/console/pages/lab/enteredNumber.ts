/** Reads a number field; an empty one is NaN rather than 0. */
export function enteredNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}
