/** sdp-transform turns digits into numbers and keeps other values as text, regardless of its declared types. */
type SdpValue = string | number

export function textOf(value: SdpValue): string {
  return String(value)
}

/** Returns NaN if the value is not a number. */
export function numberOf(value: SdpValue): number {
  return Number(value)
}
