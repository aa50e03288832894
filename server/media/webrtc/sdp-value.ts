/** sdp-transform makes numbers of digits and leaves the rest as text, whatever its types say. */
type SdpValue = string | number

export function textOf(value: SdpValue): string {
  return String(value)
}

/** NaN for what is no number. */
export function numberOf(value: SdpValue): number {
  return Number(value)
}
