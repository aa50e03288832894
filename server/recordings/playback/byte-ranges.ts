import type { ByteRange } from './fragments.ts'

/** Part of a file that a Range header asks for. all: no range, or one that is not understood, which counts as none. outside: it begins behind the end. */
export type WantedRange = 'all' | 'outside' | ByteRange

/** Reads a Range header (RFC 9110, section 14.2). Of several ranges none is given: players ask for one. @param size of the file in bytes */
export function wantedRange(header: string | null, size: number): WantedRange {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return 'all'
  if (first === '') {
    const bytes = Math.min(Number(last), size)
    return bytes === 0 ? 'outside' : { offset: size - bytes, bytes }
  }
  const offset = Number(first)
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < offset) return 'all'
  return offset >= size ? 'outside' : { offset, bytes: end - offset }
}
