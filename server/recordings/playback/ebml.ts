/** Place of an element (RFC 8794, section 6) in some bytes. */
export interface ElementPlace {
  id: number
  start: number
  /** Its content. */
  from: number
  to: number
}

/** Lists the elements between two places, as far as they are whole. One of unknown size reaches to the end. */
export function* elementPlaces(data: Buffer, from = 0, to = data.length): Generator<ElementPlace> {
  for (let start = from; start < to; ) {
    const id = numberAt(data, start, false)
    const size = id && numberAt(data, start + id.length, true)
    if (id === undefined || size === undefined) return
    const content = start + id.length + size.length
    const end = isUnknownSize(size) ? to : content + size.value
    if (end > to) return
    yield { id: id.value, start, from: content, to: end }
    start = end
  }
}

/** Variable-size integer (RFC 8794, section 4). @param masked without the marker of its length, as sizes are; ids keep it */
export function numberAt(data: Buffer, at: number, masked: boolean): { value: number; length: number } | undefined {
  const first = data[at]
  if (first === undefined || first === 0) return undefined
  const length = Math.clz32(first) - 23
  if (at + length > data.length) return undefined
  let value = masked ? first & (0xff >> length) : first
  for (let position = 1; position < length; position++) value = value * 256 + (data[at + position] ?? 0)
  return { value, length }
}

/** Whether a size says that the element reaches to the next one of its level (RFC 8794, section 6.2). */
export function isUnknownSize({ value, length }: { value: number; length: number }): boolean {
  return value === 2 ** (7 * length) - 1
}
