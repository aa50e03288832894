const shortStartCode = Buffer.from([0, 0, 1])

/** Whether bytes contain a start code of Annex B. A NAL unit contains none. */
export function holdsStartCode(bytes: Buffer): boolean {
  return bytes.includes(shortStartCode)
}

/**
 * Splits NAL units joined by start codes (ITU-T H.264 and H.265, annex B). Bytes without start codes are returned as
 * one unit.
 */
export function splitUnits(bytes: Buffer): Buffer[] {
  const units: Buffer[] = []
  let at = 0
  while (at <= bytes.length) {
    const code = bytes.indexOf(shortStartCode, at)
    let end = code < 0 ? bytes.length : code
    // Zero bytes before a start code belong to the start code.
    if (code >= 0) while (end > at && bytes[end - 1] === 0) end -= 1
    if (end > at) units.push(bytes.subarray(at, end))
    if (code < 0) break
    at = code + shortStartCode.length
  }
  return units
}
